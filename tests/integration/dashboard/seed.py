"""A store with believable data, for looking at the dashboard and for its tests."""

from __future__ import annotations

import io
import random
from collections.abc import Callable
from dataclasses import replace

from PIL import Image, ImageDraw

from shoal.agent.error_info import ErrorInfo
from shoal.agent.status import Status
from shoal.agent.types import (
    Action,
    ActionResult,
    ArtifactRef,
    Basis,
    Computation,
    Effect,
    FieldSource,
    Outcome,
    Quotation,
    Record,
    Step,
    Task,
)
from shoal.agent.worker_messages import Work
from tests.gateway_world import AT, World, completed, fan_out

NAMES = ("Kettle Fjord 1.7 l", "Stand mixer Lund", "Toaster Vik, two slots", "Espresso maker Sund", "Hand blender Aker")
COLOURS = ((11, 114, 133), (201, 42, 42), (43, 138, 62), (168, 93, 0), (24, 100, 171))
EVIL = '<img src=x onerror="document.title=\'owned\'"> & <script>document.title="owned"</script>'


def picture(title: str, price: str, colour: tuple[int, int, int]) -> bytes:
    """Something that looks like the screenshot of a product page."""
    image = Image.new("RGB", (1280, 800), "white")
    draw = ImageDraw.Draw(image)
    draw.rectangle((0, 0, 1280, 72), fill=(33, 43, 54))
    draw.text((40, 22), "NORDKITCHEN", fill="white", font_size=26)
    draw.rounded_rectangle((60, 130, 600, 700), 24, fill=tuple(min(255, part + 150) for part in colour))
    draw.ellipse((200, 280, 460, 540), fill=colour)
    draw.text((660, 150), title, fill=(20, 30, 40), font_size=44)
    draw.text((660, 230), price, fill=colour, font_size=56)
    for line in range(7):
        draw.rectangle((660, 330 + 34 * line, 660 + 480 - 37 * (line % 4), 346 + 34 * line), fill=(225, 230, 234))
    draw.rounded_rectangle((660, 610, 940, 680), 12, fill=(11, 114, 133))
    draw.text((720, 628), "Add to cart", fill="white", font_size=30)
    out = io.BytesIO()
    image.save(out, "JPEG", quality=80)
    return out.getvalue()


def product(index: int, dice: random.Random) -> dict[str, object]:
    """One record of the shop."""
    return {
        "name": f"{NAMES[index % 5]} no. {index + 1}",
        "price": round(dice.uniform(19, 249), 2),
        "currency": "EUR",
        "in_stock": dice.random() > 0.2,
        "rating": round(dice.uniform(3, 5), 1),
        "sku": f"NK-{10_000 + index * 37}",
    }


class Seeder:
    """Fills a world."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._dice = random.Random(7)

    async def fill(self) -> None:
        """Eight jobs: running, completed, failed, queued, paused, canceled, unsure, and one that is hostile."""
        await self._catalogue(220, done=220, job={"goal": "Collect every kitchen appliance with price and stock"})
        await self._simple("Find the delivery time to Trondheim", self._answered)
        await self._simple("Log in and download the June invoice", self._refused)
        await self._simple("Send the contact form", self._unsure, data={"name": "Ada"}, repeatable=False)
        await self._simple(EVIL, self._hostile, labels={"team": EVIL})
        canceled = await self._world.submit(goal="Compare the prices of three competitors", labels={"team": "pricing"})
        await self._world.client.post(f"/v1/jobs/{canceled}/cancel")
        await self._catalogue(1240, done=863, job={"goal": "Prices of all spare parts", "labels": {"team": "pricing"}})
        paused = await self._world.submit(goal="Weekly crawl of the outlet", labels={"team": "outlet"})
        await self._world.client.post(f"/v1/jobs/{paused}/pause")
        await self._world.submit(url="https://outlet.nordkitchen.example/deals", goal="Read today's deals", priority=5)
        await self._world.store.put_state("dispatcher/main", self.snapshot())

    def snapshot(self) -> dict[str, object]:
        """Return what a dispatcher says about itself."""
        workers = [
            {
                "name": f"worker-{number}",
                "slots": 4,
                "busy": busy,
                "waiting": 2,
                "browsers": 1,
                "browser_restarts": number % 2,
                "rss_bytes": 700_000_000 + number * 91_000_000,
            }
            for number, busy in enumerate((4, 4, 3, 4))
        ]
        waiting = {"slot": 1, "domain_limit": 1}
        return {"workers": workers, "slots": 16, "busy": 15, "leases": 19, "ended": 1104, "lanes_waiting": waiting}

    async def _simple(self, goal: str, answer: Callable[[Work], Outcome], **spec: object) -> None:
        await self._world.submit(url="https://www.nordkitchen.example/", goal=goal, **spec)
        (work,) = await self._world.claim()
        outcome = answer(work)
        for reference in outcome.artifacts:
            await self._world.artifacts.put(
                reference.key, picture(NAMES[0], "EUR 49.90", COLOURS[0]), reference.content_type
            )
        await self._world.finish([work], lambda _: outcome)

    async def _catalogue(self, n: int, *, done: int, job: dict[str, object]) -> None:
        schema = {"type": "object", "properties": {name: {} for name in ("name", "price", "currency", "in_stock")}}
        values = [f"https://www.nordkitchen.example/p/{NAMES[i % 5].split()[0].lower()}-{i + 1}" for i in range(n)]
        await self._world.submit(
            url="https://www.nordkitchen.example/catalogue",
            extract={"schema": schema},
            loop={"from": {"select": ".product a", "next": "a.next"}},
            **job,
        )
        (root,) = await self._world.claim()
        await self._world.finish([root], lambda _: fan_out(values))
        items = [work for work in await self._world.claim() if work.item]
        while len(items) < done:
            items += [work for work in await self._world.claim() if work.item]
        for start in range(0, done, 100):
            group = items[start : min(start + 100, done)]
            outcomes = {work.session: await self._item(work) for work in group}
            await self._world.finish(group, lambda work, outcomes=outcomes: outcomes[work.session])
        if done == n:
            (root,) = await self._world.claim()
            await self._world.finish([root], lambda _: completed())

    async def _item(self, work: Work) -> Outcome:
        assert work.item is not None
        index = work.item.index
        if index % 29 == 11:
            return self._error("navigation_timeout", "The page did not load within its time.", 30.0)
        if index % 83 == 40:
            return self._error("fields_missing", "The page does not show fields that the schema requires: price.", 2.1)
        data = product(index, self._dice)
        shot = f"{work.session:032x}"
        key = f"default/{work.job}/{work.session}/{shot}.jpg"
        await self._world.artifacts.put(
            key, picture(NAMES[index % 5], f"EUR {data['price']}", COLOURS[index % 5]), "image/jpeg"
        )
        sources = {field: FieldSource("json-ld", f"$.offers.{field}", True) for field in data}
        sources["in_stock"] = FieldSource("label", "Availability: in stock", index % 7 != 3)
        outcome = completed(url=work.item.value, seconds=self._dice.uniform(0.6, 4), screenshot=shot)
        step = Step(0, work.item.value, "The product page shows all fields.", (), screenshot=shot, seconds=0.4)
        return replace(
            outcome,
            records=(Record(data, sources, work.item.value, AT),),
            tasks=(Task("extract", "read the product", Status.COMPLETED, steps=(step,), seconds=0.8),),
            artifacts=(ArtifactRef(shot, "screenshot", key, "image/jpeg", 24_000),),
        )

    def _error(self, code: str, message: str, seconds: float) -> Outcome:
        error = ErrorInfo("NavigationTimeout", code, message, code == "navigation_timeout")
        return Outcome(Status.FAILED, error=error, url="https://www.nordkitchen.example/", at=AT, seconds=seconds)

    def _answered(self, work: Work) -> Outcome:
        shots = [f"{work.session:08x}{step:024x}" for step in range(3)]
        base = f"default/{work.job}/{work.session}"
        missing = ErrorInfo("ElementNotUsable", "element_not_usable", "A cookie dialog covers the element.", False)
        steps = (
            Step(
                0,
                "https://www.nordkitchen.example/",
                "A cookie dialog covers the page. I accept only what is necessary, so that the menu can be used.",
                (
                    ActionResult(Action("click", {"bid": "41"}), missing, seconds=0.3),
                    ActionResult(Action("click", {"bid": "88"}), effect=Effect(dom_changed=True), seconds=0.2),
                ),
                screenshot=shots[0],
                seconds=1.9,
            ),
            Step(
                1,
                "https://www.nordkitchen.example/",
                "The delivery page is in the footer.",
                (
                    ActionResult(
                        Action("click", {"bid": "112"}),
                        effect=Effect(url="https://www.nordkitchen.example/service/delivery"),
                        seconds=0.7,
                    ),
                ),
                screenshot=shots[1],
                seconds=1.2,
            ),
            Step(
                2,
                "https://www.nordkitchen.example/service/delivery",
                "The form asks for the postal code; 7010 is Trondheim.",
                (
                    ActionResult(Action("fill", {"bid": "a12", "value": "7010"}), seconds=0.1),
                    ActionResult(Action("press", {"bid": "a12", "key_comb": "Enter"}), seconds=0.9),
                ),
                screenshot=shots[2],
                seconds=2.2,
            ),
        )
        outcome = completed(
            {"city": "Trondheim", "days": "3–5", "cost": 79, "carrier": None},
            answer="Delivery to Trondheim takes three to five working days and costs NOK 79.",
            rests_on=Basis(
                (
                    Quotation(
                        "3–5 working days",
                        "https://www.nordkitchen.example/service/delivery",
                        "trondheim and around: 3–5 working days, nok 49",
                    ),
                ),
                (0,),
                Computation("sum", (49, 30), 79),
            ),
            seconds=6.4,
            screenshot=shots[2],
        )
        return replace(
            outcome,
            tasks=(
                Task("navigate", "open the delivery information", Status.COMPLETED, steps=steps, seconds=5.3),
                Task("extract", "read days and cost", Status.COMPLETED, result={"records": 1}, seconds=1.1),
            ),
            artifacts=tuple(
                ArtifactRef(shot, "screenshot", f"{base}/{shot}.jpg", "image/jpeg", 24_000) for shot in shots
            ),
        )

    def _refused(self, work: Work) -> Outcome:
        return Outcome(
            Status.TERMINATED,
            reason="The site says that the account is locked until the owner confirms it by e-mail.",
            error_codes=("account_locked",),
            url="https://www.nordkitchen.example/login",
            at=AT,
            seconds=8.0,
        )

    def _unsure(self, work: Work) -> Outcome:
        error = ErrorInfo("Unsure", "unsure", "The worker was lost while the form was being sent.", False)
        return Outcome(Status.UNSURE, error=error, url="https://www.nordkitchen.example/contact", at=AT, seconds=3.0)

    def _hostile(self, work: Work) -> Outcome:
        evil = Basis((Quotation(EVIL, "javascript:alert(1)//", EVIL),), (), Computation(EVIL, (EVIL,), EVIL))
        return replace(
            completed(
                {EVIL: EVIL, "link": "javascript:alert(1)"}, url="javascript:alert(1)//", answer=EVIL, rests_on=evil
            ),
            tasks=(Task("navigate", EVIL, Status.COMPLETED, result=EVIL, reason=EVIL),),
        )
