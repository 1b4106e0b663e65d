"""What people look at: charts, and the page that explains a file. Figures come from `evaluation`, not from here."""
