"""The countries the shop delivers to, and their regions: what the dependent selects of the quote form offer."""

from __future__ import annotations

REGIONS: dict[str, tuple[str, ...]] = {
    "Austria": ("Carinthia", "Lower Austria", "Salzburg", "Styria", "Tyrol", "Upper Austria", "Vienna", "Vorarlberg"),
    "Czechia": ("Central Bohemia", "Hradec Králové", "Moravia-Silesia", "Olomouc", "Plzeň", "Prague", "South Moravia"),
    "Denmark": ("Capital Region", "Central Denmark", "North Denmark", "Southern Denmark", "Zealand"),
    "France": ("Brittany", "Grand Est", "Île-de-France", "Normandy", "Nouvelle-Aquitaine", "Occitania"),
    "Germany": ("Baden-Württemberg", "Bavaria", "Berlin", "Hamburg", "Hesse", "Lower Saxony", "Saxony", "Thuringia"),
    "Netherlands": ("Drenthe", "Friesland", "Gelderland", "North Holland", "South Holland", "Utrecht", "Zeeland"),
    "Switzerland": ("Aargau", "Basel-Stadt", "Bern", "Geneva", "Lucerne", "Ticino", "Vaud", "Zürich"),
    "United Kingdom": ("East of England", "London", "North West", "Scotland", "South West", "Wales"),
    "United States": ("California", "Colorado", "Massachusetts", "New York", "Oregon", "Texas", "Washington"),
}
