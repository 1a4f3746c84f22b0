"""The words the catalogue is made of: per category its brands, kinds of goods, figures and sentences.

Every name is invented. `catalogue.py` draws from here with a seeded generator, so that a change here changes the
catalogue of every seed.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Kind:
    """One kind of goods, such as a cordless drill."""

    noun: str  # as it stands in product names
    low: int  # lowest usual price, in the category's currency
    high: int  # highest usual price


@dataclass(frozen=True)
class Figure:
    """One row of a specification table."""

    label: str
    values: tuple[str, ...]  # what it can say; one is drawn


@dataclass(frozen=True)
class Vocabulary:
    """The words that one category's products are made of."""

    brands: tuple[str, ...]
    series: tuple[str, ...]  # names of product lines; a model number may follow
    kinds: tuple[Kind, ...]
    figures: tuple[Figure, ...]
    variants: tuple[str, ...]  # labels of further versions
    praise: tuple[str, ...]  # sentences for teasers and descriptions; {noun} and {brand} are filled in
    uses: tuple[str, ...]  # where it is used, as a phrase


def _figures(*rows: tuple[str, str]) -> tuple[Figure, ...]:
    return tuple(Figure(label, tuple(values.split("|"))) for label, values in rows)


def _kinds(*rows: tuple[str, int, int]) -> tuple[Kind, ...]:
    return tuple(Kind(*row) for row in rows)


POWER_TOOLS = Vocabulary(
    brands=("Korvik", "Brannock", "Steelhaven", "Torsten & Dahl", "Ridgemark"),
    series=("TX", "ProLine", "Forge", "Impact", "Granite", "RS"),
    kinds=_kinds(
        ("Cordless Drill", 89, 329),
        ("Impact Driver", 99, 299),
        ("Rotary Hammer", 189, 899),
        ("Circular Saw", 119, 489),
        ("Mitre Saw", 249, 1499),
        ("Random Orbit Sander", 69, 349),
        ("Angle Grinder", 59, 279),
        ("Jigsaw", 79, 319),
        ("Router Table", 399, 1890),
        ("Table Saw", 499, 2790),
        ("Dust Extractor", 229, 1190),
    ),
    figures=_figures(
        ("Voltage", "12 V|18 V|36 V|120 V"),
        ("Battery", "2 × 2.0 Ah|2 × 4.0 Ah|1 × 5.0 Ah|not included"),
        ("Max. torque", "42 Nm|60 Nm|85 Nm|120 Nm|165 Nm"),
        ("No-load speed", "0–1,500 rpm|0–2,800 rpm|0–4,200 rpm|3,500–11,000 rpm"),
        ("Motor", "brushed|brushless|brushless, sealed"),
        ("Tool holder", '1/2" chuck|1/4" hex|SDS-plus|7/8" arbor'),
        ("Sound power level", "84 dB(A)|91 dB(A)|97 dB(A)|102 dB(A)"),
        ("Vibration (ah)", "2.5 m/s²|3.8 m/s²|5.1 m/s²|8.4 m/s²"),
        ("Carrying case", "plastic case|stackable box|tool bag|none"),
    ),
    variants=("Bare tool", "Kit with 2 batteries", "Kit with 4.0 Ah batteries and case"),
    praise=(
        "The {noun} stays balanced in the hand even after a full day overhead.",
        "{brand} seals the gearbox against dust, so the {noun} keeps its pull on dirty sites.",
        "An electronic clutch stops the motor before the bit can bind.",
        "The brush cover comes off with a coin and a worn part is swapped in a minute.",
        "Two LED lamps light the cut from both sides and stay on for ten seconds.",
        "The grip is moulded over in one piece and does not peel in the cold.",
    ),
    uses=("interior fit-out", "timber framing", "metalwork", "renovation", "the joiner's shop"),
)

KITCHEN = Vocabulary(
    brands=("Hearthwell", "Maison Orrell", "Saltmarsh", "Copperfold", "Ellery"),
    series=("Classic", "Atelier", "Heritage", "Everyday", "Signature", "Chef's"),
    kinds=_kinds(
        ("Cast Iron Casserole", 69, 289),
        ("Stand Mixer", 199, 649),
        ("Espresso Machine", 249, 1890),
        ("Chef's Knife", 29, 219),
        ("Copper Saucepan", 59, 349),
        ("Burr Grinder", 89, 459),
        ("Toaster", 35, 199),
        ("Stock Pot", 45, 189),
        ("Pasta Maker", 49, 259),
        ("Range Cooker", 990, 4290),
        ("Food Processor", 79, 399),
    ),
    figures=_figures(
        ("Material", "enamelled cast iron|stainless steel 18/10|copper, tin lined|die-cast aluminium"),
        ("Capacity", "1.4 l|2.6 l|4.2 l|6.7 l|9 l"),
        ("Power", "no power needed|650 W|1,100 W|1,500 W|2,300 W"),
        ("Suitable hobs", "all, including induction|gas and electric|not applicable"),
        ("Oven safe to", "180 °C|220 °C|260 °C|not applicable"),
        ("Dishwasher safe", "yes|no|parts only"),
        ("Cable length", "0.9 m|1.1 m|1.5 m|none"),
        ("Handle", "riveted steel|beech|phenolic|cast on"),
    ),
    variants=("Cream", "Racing green", "Brushed steel", "Midnight blue"),
    praise=(
        "Heat spreads evenly across the base, so the {noun} forgives a distracted cook.",
        "{brand} still finishes every {noun} by hand and signs the underside.",
        "The lid fits close enough to keep a Sunday roast moist for four hours.",
        "All parts that touch food come apart without tools.",
        "Spare parts are kept for fifteen years after the last one leaves the works.",
        "It is quiet enough to use while the children are asleep.",
    ),
    uses=("family cooking", "a small restaurant", "weekend baking", "holiday lets", "the staff kitchen"),
)

LIGHTING = Vocabulary(
    brands=("Lumenfeld", "Ostra", "Glimmerby", "North Lantern", "Vela Studio"),
    series=("Halo", "Drift", "Arc", "Mono", "Folio", "Pebble"),
    kinds=_kinds(
        ("Pendant Lamp", 79, 690),
        ("Floor Lamp", 119, 890),
        ("Desk Lamp", 49, 349),
        ("Wall Sconce", 39, 289),
        ("Track Spotlight", 29, 189),
        ("Chandelier", 390, 3490),
        ("Garden Bollard Light", 59, 329),
        ("Ceiling Panel", 69, 419),
        ("Reading Light", 35, 179),
        ("Picture Light", 45, 259),
        ("Emergency Luminaire", 55, 310),
    ),
    figures=_figures(
        ("Light source", "LED, built in|E27, bulb not included|GU10, bulb included|E14, bulb included"),
        ("Luminous flux", "350 lm|480 lm|806 lm|1,055 lm|2,400 lm"),
        ("Colour temperature", "2,700 K|3,000 K|4,000 K|2,200–6,500 K"),
        ("Colour rendering", "CRI 80|CRI 90|CRI 95"),
        ("Protection", "IP20|IP44|IP54|IP65"),
        ("Dimmable", "yes, phase|yes, DALI|with remote control|no"),
        ("Shade", "opal glass|linen|spun aluminium|smoked glass"),
        ("Energy class", "C|D|E|F"),
        ("Mains", "220–240 V, 50 Hz|12 V DC, driver included"),
    ),
    variants=("Matt white", "Graphite", "Brass", "Sage green"),
    praise=(
        "The {noun} throws a soft cone of light without a hard edge.",
        "{brand} tunes every driver by ear: no hum, no flicker on camera.",
        "The ceiling rose hides an uneven hole of up to eleven centimetres.",
        "A single screw holds the shade, so cleaning it takes a minute.",
        "The textile cable can be shortened at any time.",
        "It dims down to one per cent and stays warm while doing it.",
    ),
    uses=("a long dining table", "hotel corridors", "a reading corner", "the shop window", "open-plan offices"),
)

OUTDOOR = Vocabulary(
    brands=("Skarn", "Tarnhow", "Wild Larch", "Bivvy & Sons", "Kestrel Peak"),
    series=("Ridge", "Fjell", "Nomad", "Alpine", "Basecamp", "Trek"),
    kinds=_kinds(
        ("Dome Tent", 2490, 18990),
        ("Sleeping Bag", 1290, 11990),
        ("Trekking Backpack", 1890, 7990),
        ("Gas Stove", 590, 3990),
        ("Head Torch", 390, 2890),
        ("Trekking Poles", 690, 3490),
        ("Inflatable Mat", 990, 5490),
        ("Water Filter", 790, 4290),
        ("Folding Chair", 490, 2790),
        ("Rope Bag Set", 1190, 4690),
        ("Rain Jacket", 1690, 9990),
    ),
    figures=_figures(
        ("Season", "2 seasons|3 seasons|4 seasons"),
        ("Outer fabric", "nylon ripstop 40D|polyester 75D|Dyneema composite|canvas"),
        ("Water column", "2,000 mm|3,000 mm|5,000 mm|20,000 mm"),
        ("Packed size", "18 × 9 cm|28 × 14 cm|42 × 16 cm|58 × 22 cm"),
        ("For", "1 person|2 persons|3 persons|4 persons"),
        ("Lower comfort limit", "+8 °C|+2 °C|−4 °C|−12 °C"),
        ("Fill", "goose down 750|synthetic|none"),
        ("Poles", "aluminium 7001|fibreglass|carbon|none"),
    ),
    variants=("Short", "Regular", "Long", "Regular, left zip"),
    praise=(
        "The {noun} went over the Lofoten wall twice before we took it into the range.",
        "{brand} mends what it makes: send it in, and it comes back washed.",
        "Every seam is taped, and the zip runs under a storm flap.",
        "The stuff sack is big enough to pack with cold fingers.",
        "Colours are chosen to be found again on a hillside.",
        "It packs flat against the back panel of a forty-litre rucksack.",
    ),
    uses=("hut-to-hut walks", "winter bivouacs", "family camping", "river trips", "mountain rescue teams"),
)

GARDEN = Vocabulary(
    brands=("Grünwald", "Laubfrosch", "Hof & Beet", "Eisenhut", "Wurzelwerk"),
    series=("Comfort", "Natura", "Profi", "Kompakt", "Solid", "Aktiv"),
    kinds=_kinds(
        ("Akku-Rasenmäher", 249, 899),
        ("Heckenschere", 79, 449),
        ("Hochbeet", 89, 549),
        ("Gartenschlauch-Set", 35, 189),
        ("Schubkarre", 59, 249),
        ("Gewächshaus", 399, 3490),
        ("Häcksler", 149, 1190),
        ("Regentonne", 45, 219),
        ("Gartenbank", 129, 890),
        ("Spaten", 25, 119),
        ("Komposter", 39, 279),
    ),
    figures=_figures(
        ("Material", "verzinkter Stahl|Lärchenholz|Aluminium|Kunststoff, recycelt"),
        ("Arbeitsbreite", "32 cm|38 cm|46 cm|entfällt"),
        ("Fassungsvermögen", "50 l|120 l|240 l|510 l|entfällt"),
        ("Antrieb", "Akku 36 V|Netz 230 V|von Hand|Benzin"),
        ("Geräuschpegel", "78 dB(A)|88 dB(A)|94 dB(A)|entfällt"),
        ("Stiel", "Esche|Fiberglas|Stahlrohr|ohne"),
        ("Montage", "werkzeuglos|mit beiliegendem Schlüssel|vormontiert"),
        ("Winterfest", "ja|nein|entleert ja"),
    ),
    variants=("Klein", "Mittel", "Groß", "Groß mit Zubehör"),
    praise=(
        "Das Modell {noun} ist für Beete auf schwerem Boden gemacht.",
        "{brand} liefert jedes Ersatzteil noch zwanzig Jahre nach dem Kauf.",
        "Die Griffe liegen auch mit nassen Handschuhen sicher in der Hand.",
        "Alle Schrauben sind aus Edelstahl und hinterlassen keine Rostspuren.",
        "Im Winter lässt es sich auf ein Drittel der Größe zusammenlegen.",
        "Der Aufbau dauert zu zweit keine halbe Stunde.",
    ),
    uses=("Kleingärten", "große Rasenflächen", "Schulgärten", "den Gartenbau", "Balkon und Terrasse"),
)

AUDIO = Vocabulary(
    brands=("Aldermoor", "Sonare", "Blackbird Works", "Tannhill", "Quiet Room"),
    series=("One", "Studio", "Reference", "Concert", "Mk II", "Session"),
    kinds=_kinds(
        ("Over-Ear Headphones", 89, 699),
        ("Bookshelf Speakers", 199, 1890),
        ("Turntable", 229, 2490),
        ("Integrated Amplifier", 349, 3290),
        ("Streaming Player", 179, 1290),
        ("Soundbar", 149, 1190),
        ("Subwoofer", 249, 1690),
        ("USB Microphone", 69, 349),
        ("In-Ear Monitors", 49, 899),
        ("Portable Speaker", 39, 379),
        ("Phono Preamplifier", 99, 990),
    ),
    figures=_figures(
        ("Frequency response", "20 Hz – 20 kHz|35 Hz – 22 kHz|48 Hz – 25 kHz|5 Hz – 40 kHz"),
        ("Impedance", "4 Ω|8 Ω|32 Ω|250 Ω"),
        ("Sensitivity", "84 dB|87 dB|91 dB|104 dB"),
        ("Connections", "RCA, optical|USB-C, 3.5 mm|XLR, RCA|HDMI eARC, optical"),
        ("Wireless", "none|Bluetooth 5.3|Wi-Fi 6 and Bluetooth 5.2"),
        ("Battery life", "mains powered|11 h|24 h|38 h"),
        ("Cabinet", "walnut veneer|matt lacquer|cast aluminium|textile"),
        ("Total harmonic distortion", "0.003 %|0.02 %|0.1 %|0.3 %"),
    ),
    variants=("Black", "Walnut", "White", "Walnut, pair with stands"),
    praise=(
        "Voices stand in front of the {noun} instead of inside it.",
        "{brand} matches the drivers by hand within half a decibel.",
        "The remote control has five buttons, and you will need three.",
        "Cables are detachable and of a length that you can buy anywhere.",
        "Firmware comes on a memory stick; no account is asked for.",
        "It sounds right at the volume at which neighbours stay friends.",
    ),
    uses=("small listening rooms", "podcasts", "the home cinema", "long flights", "the café counter"),
)

OFFICE = Vocabulary(
    brands=("Stillhart", "Werkraum", "Plainfield", "Sitwell Bros", "Modulus"),
    series=("Form", "Axis", "Loft", "Task", "Senate", "Plan"),
    kinds=_kinds(
        ("Task Chair", 189, 1290),
        ("Height-Adjustable Desk", 349, 1890),
        ("Filing Cabinet", 129, 790),
        ("Meeting Table", 490, 3990),
        ("Acoustic Screen", 119, 690),
        ("Monitor Arm", 59, 329),
        ("Bookcase", 149, 1090),
        ("Visitor Chair", 99, 590),
        ("Pedestal Drawer Unit", 139, 540),
        ("Whiteboard", 69, 480),
        ("Phone Booth", 2990, 8900),
    ),
    figures=_figures(
        ("Frame", "powder-coated steel|solid oak|cast aluminium|birch plywood"),
        ("Surface", "linoleum|melamine, white|oak veneer|wool felt"),
        ("Width", "60 cm|80 cm|120 cm|160 cm|200 cm"),
        ("Height", "38–52 cm|62–127 cm|72 cm|110 cm|190 cm"),
        ("Load", "80 kg|110 kg|120 kg|150 kg"),
        ("Castors", "hard floor|carpet|glides|none"),
        ("Lock", "cylinder lock|code lock|none"),
        ("Standard", "EN 1335|EN 527|EN 14073|EN 15372"),
    ),
    variants=("Light grey", "Anthracite", "Oak", "Oak with cable tray"),
    praise=(
        "The {noun} leaves the works assembled; two people carry it in.",
        "{brand} takes it back after its life and pays for what can be used again.",
        "Every edge is rounded to three millimetres and sealed.",
        "Fittings are marked, so that a move needs no manual.",
        "The fabric is tested to one hundred thousand rubs.",
        "It was drawn for a library and has been quiet ever since.",
    ),
    uses=("home offices", "shared desks", "town halls", "the reception", "small meeting rooms"),
)

BICYCLES = Vocabulary(
    brands=("Velmora", "Pike & Spoke", "Dunlin", "Radwerk Nord", "Halcyon Cycles"),
    series=("Tour", "City", "Gravel", "Urban", "Sprint", "Carry"),
    kinds=_kinds(
        ("Trekking Bike", 599, 2490),
        ("City Bike", 399, 1290),
        ("E-Bike", 1490, 5490),
        ("Gravel Bike", 1090, 4290),
        ("Folding Bike", 449, 1990),
        ("Cargo Bike", 1890, 6990),
        ("Road Bike", 990, 5990),
        ("Children's Bike", 189, 549),
        ("Mountain Bike", 690, 4990),
        ("Child Trailer", 249, 1090),
        ("Balance Bike", 69, 229),
    ),
    figures=_figures(
        ("Frame material", "aluminium 6061|chromoly steel|carbon|hydroformed aluminium"),
        ("Wheel size", '12"|20"|26"|27.5"|28"'),
        ("Gears", "single speed|7-speed hub|8-speed hub|1 × 11|2 × 12"),
        ("Brakes", "rim|hydraulic disc|mechanical disc|coaster"),
        ("Motor", "none|250 W, 65 Nm|250 W, 85 Nm"),
        ("Battery capacity", "none|400 Wh|504 Wh|625 Wh"),
        ("Lights", "hub dynamo|battery|integrated|none"),
        ("Permitted total weight", "60 kg|120 kg|135 kg|180 kg"),
    ),
    variants=("Frame S", "Frame M", "Frame L", "Frame XL"),
    praise=(
        "The {noun} rolls off a kerb without a rattle.",
        "{brand} builds the wheels by hand and trues them again after one hundred kilometres, free of charge.",
        "Cables run inside the frame but can be changed without magic.",
        "The rack is welded on and carries a week's shopping.",
        "It is delivered ninety-five per cent assembled with the tools for the rest.",
        "Mudguards are long enough to keep a suit clean.",
    ),
    uses=("the daily commute", "long tours", "school runs", "gravel roads", "city deliveries"),
)

REVIEWERS = (
    "Agnes T.", "Marek P.", "J. Whitcombe", "Sofia L.", "Bernd K.", "Oona", "Priya N.", "T. Okafor", "Luc D.",
    "Hanna R.", "Gareth", "M. Svoboda", "Ines C.", "Workshop 14", "Ruth E.", "Pavel", "Kim B.", "Dorothea",
)  # fmt: skip

REVIEW_TITLES = {
    "en": ("Does what it says", "Better than expected", "Good, with one flaw", "Would buy again", "Solid work",
           "Not for everyone", "Arrived quickly", "After six months of use", "A present that was liked"),
    "de": ("Hält, was es verspricht", "Besser als erwartet", "Gut, mit einer Schwäche", "Gerne wieder",
           "Solide Arbeit", "Nicht für jeden", "Schnell geliefert", "Nach sechs Monaten", "Ein gutes Geschenk"),
}  # fmt: skip

REVIEW_SENTENCES = {
    "en": (
        "I compared four models before and this one felt the least like a compromise.",
        "The parcel was well packed and nothing rattled.",
        "The manual is short, and after the second page you no longer need it.",
        "My neighbour has the previous version and envies the new handle.",
        "One screw was missing; customer service sent three within two days.",
        "Cheaper ones exist, but I have owned those too.",
        "It looks exactly as in the pictures, the colour is a touch warmer.",
        "I would have liked a longer cable, otherwise there is nothing to add.",
        "We use it every day at work and it shows no wear so far.",
        "Delivery took a day longer than promised, which was announced by mail.",
        "For the price I had expected a better carrying bag.",
        "Returned the first one because of a scratch, the second is flawless.",
    ),
    "de": (
        "Ich habe vorher vier Modelle verglichen und dieses war am wenigsten ein Kompromiss.",
        "Das Paket war gut verpackt, nichts hat geklappert.",
        "Die Anleitung ist kurz, ab der zweiten Seite braucht man sie nicht mehr.",
        "Mein Nachbar hat das Vorgängermodell und beneidet mich um den neuen Griff.",
        "Eine Schraube fehlte; der Kundendienst schickte nach zwei Tagen drei.",
        "Es gibt Billigeres, aber das hatte ich auch schon.",
        "Sieht genau aus wie auf den Bildern, die Farbe ist etwas wärmer.",
        "Wir benutzen es täglich und sehen bisher keine Abnutzung.",
        "Die Lieferung kam einen Tag später als angekündigt.",
        "Für den Preis hätte ich eine bessere Verpackung erwartet.",
    ),
}

QUESTIONS = {
    "en": (
        ("Can I return it after trying it out?", "Yes, within 30 days, clean and complete. We pay the return parcel."),
        ("Do you deliver to islands?", "We do. It takes two to three days longer, and the carrier may ring first."),
        ("Is the guarantee handled by you or by the maker?", "By us. Write to service with the order number."),
        ("Do you give discounts for larger orders?", "From five pieces: please use the quote form."),
        ("Are spare parts available?", "Yes, most of them from stock. The parts list is in the data sheet."),
    ),
    "de": (
        ("Kann ich es nach dem Ausprobieren zurückgeben?", "Ja, innerhalb von 30 Tagen, sauber und vollständig."),
        ("Liefern Sie auch auf Inseln?", "Ja, das dauert zwei bis drei Tage länger."),
        ("Wer kümmert sich um die Garantie?", "Wir. Schreiben Sie uns mit der Bestellnummer."),
        ("Gibt es Rabatt für größere Mengen?", "Ab fünf Stück: bitte nutzen Sie das Anfrageformular."),
        ("Gibt es Ersatzteile?", "Ja, die meisten ab Lager. Die Liste steht im Datenblatt."),
    ),
}

# Country in English, in German, parcel and heavy goods in euros, days.
DELIVERY_COSTS = (
    ("Austria", "Österreich", "5.90", "49.00", "2–3"),
    ("Czechia", "Tschechien", "6.90", "54.00", "3–4"),
    ("Denmark", "Dänemark", "8.90", "59.00", "3–4"),
    ("France", "Frankreich", "8.90", "59.00", "3–5"),
    ("Germany", "Deutschland", "4.90", "39.00", "1–2"),
    ("Netherlands", "Niederlande", "5.90", "45.00", "2–3"),
    ("Switzerland", "Schweiz", "14.90", "89.00", "4–6"),
    ("United Kingdom", "Vereinigtes Königreich", "12.90", "79.00", "4–6"),
    ("United States", "Vereinigte Staaten", "29.90", "249.00", "6–9"),
)
