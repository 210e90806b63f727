"""The scenarios by name, in the order in which they run. Each is a function of a World."""
from . import backfill, completion, edits, elastic, hyperjob, limits, members
from . import reclaim, references, refusals, restart, rights, shares, split

ALL = {
    "rights": rights.run,
    "completion": completion.run,
    "capability": limits.capability,
    "quota": limits.quota_of_tenant,
    "priority": limits.priority,
    "shares": shares.converge,
    "reclaim": reclaim.run,
    "backfill": backfill.run,
    "waves": elastic.waves,
    "elastic": elastic.run,
    "split": split.run,
    "hyperjob": hyperjob.run,
    "close": edits.close_queue,
    "suspend": edits.suspend,
    "scale": edits.scale,
    "edit": edits.edit,
    "hands": edits.hands,
    "hands-off": edits.hands_off,
    "delete": edits.delete,
    "references": references.run,
    "conflict": refusals.name_conflict,
    "unapplied": refusals.not_applied,
    "kill": restart.run,
    "member-down": members.down_and_back,
}
