"""What people look at: tables, figures, and the page that explains a file."""
