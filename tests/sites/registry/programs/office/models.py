"""Authors and books."""

from django.contrib import admin
from django.db import models


class Author(models.Model):
    name = models.CharField(max_length=80, unique=True)
    born = models.IntegerField()

    def __str__(self) -> str:
        return self.name


class Book(models.Model):
    title = models.CharField(max_length=80)
    author = models.ForeignKey(Author, on_delete=models.CASCADE)
    isbn = models.CharField("ISBN", max_length=13, unique=True)
    pages = models.IntegerField()
    price = models.DecimalField(max_digits=6, decimal_places=2)
    available = models.BooleanField(default=True)
    summary = models.TextField(blank=True)

    def __str__(self) -> str:
        return self.title


@admin.register(Author)
class AuthorAdmin(admin.ModelAdmin):
    list_display = ("name", "born")
    ordering = ("id",)


@admin.register(Book)
class BookAdmin(admin.ModelAdmin):
    list_display = ("title", "author", "isbn", "pages", "price", "available")
    search_fields = ("title",)
    ordering = ("id",)
    list_per_page = 20
