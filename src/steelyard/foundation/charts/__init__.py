"""Charts of plain rows and colours, which the report, the figures of the paper and `.plot()` share; drawn by altair."""
