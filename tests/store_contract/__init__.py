"""The contract of every store; `tests/unit/store` runs it on SQLite, `tests/integration/store` on PostgreSQL.

A module that imports these tests brings a fixture `store_url`: the URL of an empty database.
"""

from tests.store_contract.changed_partitions import *  # noqa: F403
from tests.store_contract.changes import *  # noqa: F403
from tests.store_contract.claims import *  # noqa: F403
from tests.store_contract.concurrency_changes import *  # noqa: F403
from tests.store_contract.control import *  # noqa: F403
from tests.store_contract.doubts import *  # noqa: F403
from tests.store_contract.dropping import *  # noqa: F403
from tests.store_contract.earlier_readings import *  # noqa: F403
from tests.store_contract.ending import *  # noqa: F403
from tests.store_contract.field_glossaries import *  # noqa: F403
from tests.store_contract.fixtures import short_slices as short_slices
from tests.store_contract.fixtures import w as w
from tests.store_contract.learning import *  # noqa: F403
from tests.store_contract.leases import *  # noqa: F403
from tests.store_contract.long_loops import *  # noqa: F403
from tests.store_contract.looking_up import *  # noqa: F403
from tests.store_contract.loops import *  # noqa: F403
from tests.store_contract.notices import *  # noqa: F403
from tests.store_contract.outbox import *  # noqa: F403
from tests.store_contract.outcomes import *  # noqa: F403
from tests.store_contract.politeness import *  # noqa: F403
from tests.store_contract.reading import *  # noqa: F403
from tests.store_contract.replays import *  # noqa: F403
from tests.store_contract.resolve_unsure import *  # noqa: F403
from tests.store_contract.retrying import *  # noqa: F403
from tests.store_contract.retrying_one import *  # noqa: F403
from tests.store_contract.robots import *  # noqa: F403
from tests.store_contract.runs import *  # noqa: F403
from tests.store_contract.same_records import *  # noqa: F403
from tests.store_contract.schedules import *  # noqa: F403
from tests.store_contract.shared import *  # noqa: F403
from tests.store_contract.site_limits import *  # noqa: F403
from tests.store_contract.submission import *  # noqa: F403
from tests.store_contract.tenant_limits import *  # noqa: F403
from tests.store_contract.totals import *  # noqa: F403
from tests.store_contract.workflows import *  # noqa: F403
