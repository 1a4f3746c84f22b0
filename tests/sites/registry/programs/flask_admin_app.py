"""Flask-Admin over a seeded shop: python flask_admin_app.py DATABASE PORT. Runs in Flask-Admin's own environment."""

import random
import sys
from decimal import Decimal

from flask import Flask
from flask_admin import Admin
from flask_admin.contrib.sqla import ModelView
from flask_sqlalchemy import SQLAlchemy
from sqlalchemy.orm import Mapped, mapped_column

app = Flask(__name__)
app.config["SECRET_KEY"] = "only for a test on the loopback address"
app.config["SQLALCHEMY_DATABASE_URI"] = f"sqlite:///{sys.argv[1]}"
db = SQLAlchemy(app)

KINDS = ("hammer", "saw", "lamp", "ladder", "rope")
MAKERS = ("Arndt", "Bello", "Cerny", "Dahl")


class Supplier(db.Model):
    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(unique=True)
    city: Mapped[str]

    def __str__(self) -> str:
        return self.name


class Product(db.Model):
    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(unique=True)
    sku: Mapped[str]
    price: Mapped[Decimal]  # Flask-Admin has no form field for floats
    stock: Mapped[int]
    on_sale: Mapped[bool]
    description: Mapped[str] = mapped_column(db.Text)
    supplier_id: Mapped[int] = mapped_column(db.ForeignKey("supplier.id"))
    supplier = db.relationship(Supplier)


class ProductView(ModelView):
    can_view_details = True
    column_list = ("name", "sku", "price", "stock", "supplier")
    column_searchable_list = ("name",)
    column_default_sort = "id"
    page_size = 20
    form_columns = ("name", "sku", "price", "stock", "on_sale", "supplier", "description")


def seed() -> None:
    chance = random.Random(18)
    makers = [
        Supplier(name=name, city=city) for name, city in zip(MAKERS, ("Graz", "Porto", "Brno", "Oslo"), strict=True)
    ]
    db.session.add_all(makers)
    for n in range(1, 58):
        kind = chance.choice(KINDS)
        db.session.add(
            Product(
                name=f"{chance.choice(MAKERS)} {kind} {n}",
                sku=f"{kind[:2].upper()}-{1000 + n}",
                price=Decimal(chance.randrange(100, 9900)) / 100,
                stock=chance.randrange(0, 40),
                on_sale=chance.random() < 0.4,
                description=f"A {kind} for the {chance.choice(('workshop', 'garden', 'cellar'))}.",
                supplier=chance.choice(makers),
            )
        )
    db.session.commit()


with app.app_context():
    db.create_all()
    seed()
admin = Admin(app, name="Shop office")
admin.add_view(ProductView(Product, db.session))
admin.add_view(ModelView(Supplier, db.session))
app.run(port=int(sys.argv[2]))
