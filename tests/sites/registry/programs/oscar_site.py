"""An Oscar shop over a seeded catalogue: python oscar_site.py DATABASE PORT. It has its own environment."""

import random
import sys
from decimal import Decimal

import django
from django.apps import apps
from django.conf import settings
from django.core.management import call_command
from django.urls import include, path
from oscar import defaults

_PLAIN = (
    *("analytics", "checkout", "address", "shipping", "catalogue", "communication", "partner", "basket", "payment"),
    *("offer", "order", "customer", "search", "voucher", "wishlists", "dashboard"),
)
_BOARDS = (
    *("reports", "users", "orders", "catalogue", "offers", "partners", "pages", "ranges", "reviews", "vouchers"),
    *("communications", "shipping"),
)


class _NoMigrations:
    """Tables are made from the models as they are: the way through all migrations takes minutes."""

    def __contains__(self, app):
        return True

    def __getitem__(self, app):
        return None


settings.configure(
    DEBUG=True,
    SECRET_KEY="only for a test on the loopback address",
    ROOT_URLCONF=__name__,
    ALLOWED_HOSTS=["127.0.0.1"],
    DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": sys.argv[1], "ATOMIC_REQUESTS": True}},
    DEFAULT_AUTO_FIELD="django.db.models.AutoField",
    STATIC_URL="/static/",
    MEDIA_URL="/media/",
    MEDIA_ROOT=f"{sys.argv[1]}.media",
    SITE_ID=1,
    USE_TZ=True,
    MIGRATION_MODULES=_NoMigrations(),
    TIME_ZONE="UTC",
    LANGUAGE_CODE="en-gb",
    EMAIL_BACKEND="django.core.mail.backends.dummy.EmailBackend",
    AUTHENTICATION_BACKENDS=["oscar.apps.customer.auth_backends.EmailBackend"],
    HAYSTACK_CONNECTIONS={
        "default": {"ENGINE": "haystack.backends.whoosh_backend.WhooshEngine", "PATH": f"{sys.argv[1]}.index"}
    },
    INSTALLED_APPS=[
        *("django.contrib.admin", "django.contrib.auth", "django.contrib.contenttypes", "django.contrib.sessions"),
        *("django.contrib.sites", "django.contrib.messages", "django.contrib.staticfiles", "django.contrib.flatpages"),
        "oscar.config.Shop",
        *(f"oscar.apps.{name}.apps.{name.capitalize()}Config" for name in _PLAIN),
        "oscar.apps.catalogue.reviews.apps.CatalogueReviewsConfig",
        *(f"oscar.apps.dashboard.{name}.apps.{name.capitalize()}DashboardConfig" for name in _BOARDS),
        *("widget_tweaks", "haystack", "treebeard", "sorl.thumbnail", "django_tables2"),
    ],
    MIDDLEWARE=[
        "django.contrib.sessions.middleware.SessionMiddleware",
        "django.middleware.csrf.CsrfViewMiddleware",
        "django.contrib.auth.middleware.AuthenticationMiddleware",
        "django.contrib.messages.middleware.MessageMiddleware",
        "oscar.apps.basket.middleware.BasketMiddleware",
    ],
    TEMPLATES=[
        {
            "BACKEND": "django.template.backends.django.DjangoTemplates",
            "APP_DIRS": True,
            "OPTIONS": {
                "context_processors": [
                    "django.template.context_processors.request",
                    "django.contrib.auth.context_processors.auth",
                    "django.contrib.messages.context_processors.messages",
                    "oscar.apps.search.context_processors.search_form",
                    "oscar.apps.checkout.context_processors.checkout",
                    "oscar.apps.communication.notifications.context_processors.notifications",
                    "oscar.core.context_processors.metadata",
                ]
            },
        }
    ],
    **{name: value for name, value in vars(defaults).items() if name.startswith("OSCAR_")},
)
django.setup()
urlpatterns = [
    path("i18n/", include("django.conf.urls.i18n")),
    path("", include(apps.get_app_config("oscar").urls[0])),
]

KINDS = ("Lamp", "Chair", "Shelf", "Kettle", "Rug", "Clock")
MAKERS = ("Arndt", "Bello", "Cerny", "Dahl")
STATES = ("oak", "steel", "wool", "glass")


def seed() -> None:
    """60 products of six categories with a price and a stock, and a person who may log in, the same at each run."""
    from django.contrib.auth.models import User
    from oscar.apps.address.models import Country
    from oscar.apps.catalogue.categories import create_from_breadcrumbs
    from oscar.apps.catalogue.models import Product, ProductAttribute, ProductCategory, ProductClass
    from oscar.apps.partner.models import Partner, StockRecord

    chance = random.Random(18)
    User.objects.create_superuser("ada", "ada@shop.example", "correct horse 7")
    Country.objects.create(iso_3166_1_a2="GB", printable_name="United Kingdom", is_shipping_country=True)
    kind = ProductClass.objects.create(name="Furniture")
    attributes = [
        ProductAttribute.objects.create(product_class=kind, name=name.capitalize(), code=name, type="text")
        for name in ("maker", "material")
    ]
    partner = Partner.objects.create(name="Harbour store")
    categories = {name: create_from_breadcrumbs(f"{name}s") for name in KINDS}
    for n in range(1, 61):
        name, maker = chance.choice(KINDS), chance.choice(MAKERS)
        product = Product.objects.create(
            title=f"{name} {maker} {n}",
            upc=f"40{n:05d}",
            product_class=kind,
            description=f"<p>A {name.lower()} no. {n}.</p>",
        )
        for attribute, value in zip(attributes, (maker, chance.choice(STATES)), strict=True):
            attribute.save_value(product, value)
        ProductCategory.objects.create(product=product, category=categories[name])
        StockRecord.objects.create(
            product=product,
            partner=partner,
            partner_sku=f"SKU-{n:03d}",
            price_currency="GBP",
            price=Decimal(chance.randrange(500, 49_000)) / 100,
            num_in_stock=chance.choice((0, 0, 3, 8, 21)),
        )


if __name__ == "__main__":
    call_command("migrate", run_syncdb=True, verbosity=0)
    seed()
    call_command("rebuild_index", interactive=False, verbosity=0)
    call_command("runserver", f"127.0.0.1:{sys.argv[2]}", use_reloader=False, verbosity=0)
