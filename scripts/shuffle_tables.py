"""Write copies of tables with their rows in another order: python shuffle_tables.py SEED OUTPUT.

A build that finds these before the tables themselves (CUJIT_SHUFFLE) and passes its tests shows that the order of rows
means nothing. Tables whose order is their meaning are not among them: type.def, promotion.def, time_unit.def, ..."""
import random
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TABLES = ["core/intrinsic/intrinsic.def", "core/intrinsic/intrinsic_cuda.def", "core/intrinsic/intrinsic_tensor.def",
          "core/intrinsic/intrinsic_bulk.def",
          "core/intrinsic/intrinsic_family.def", "core/intrinsic/libdevice.def", "core/option.def",
          "core/diagnostic/diag.def", "core/ir/op.def", "core/type/tuple_tag.def", "frontend/call/handlers.def",
          "frontend/call/cuda/handlers_cuda.def", "runtime/backend.def", "runtime/cuda/driver/driver.def",
          "codegen/host/elementary/elementary.def"]
# A comment, or a row with the comment behind it. Rows begin a line; texts in them may have parentheses.
PIECES = re.compile(r"/\*.*?\*/|^[A-Z][A-Z0-9_]*\((?:\"(?:[^\"\\]|\\.)*\"|[^()\"]|\([^()]*\))*\)(?:[ \t]*/\*.*?\*/)?",
                    re.MULTILINE | re.DOTALL)


def shuffled(text, seed):
    """The text with its rows in other places; comments and lines for the preprocessor stay in theirs."""
    rows = [piece[0] for piece in PIECES.finditer(text) if not piece[0].startswith("/*")]
    random.Random(seed).shuffle(rows)
    following = iter(rows)
    return PIECES.sub(lambda piece: piece[0] if piece[0].startswith("/*") else next(following), text)


if __name__ == "__main__":
    for table in TABLES:
        target = Path(sys.argv[2]) / table
        target.parent.mkdir(parents=True, exist_ok=True)
        new = shuffled((ROOT / table).read_text(encoding="utf-8"), int(sys.argv[1]))
        if not target.exists() or target.read_text(encoding="utf-8") != new:
            target.write_text(new, encoding="utf-8")
