"""Examples of words that set a floor, of every sensitive topic and locale."""

SENSITIVE = (
    "anxiety", "diabetes", "insulin", "pregnant", "therapist", "wheelchair", "PrEP",
    "bisexual", "STDs", "muslim", "synagogue", "voted", "trade union",
    "salary", "wages", "payslip", "overdraft", "debts", "mortgage", "income", "$5000", "90k",
    "arrested", "probation", "asylum", "phone number", "a.b@example.org", "+4915112345",
    "Angststörung", "Erdnussallergie", "schwanger", "Brustkrebs", "HIV-positiv",
    "schwul", "katholisch",
    "CDU", "Gehalt", "Monatsgehalt", "Nettolohn", "Einkommen", "verschuldet", "Hypothek",
    "500 Euro", "verhaftet", "Sorgerecht", "Handynummer",
)  # fmt: skip
