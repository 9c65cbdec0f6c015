# Runs a statement with the module duckdb, and prints its rows as the program duckdb does.
import csv, json, os, site, sys

# The interpreter runs isolated, and so without two places where a user may have installed the module. Relative paths
# stay out: the owner of the current directory must not choose what runs.
path = os.environ.get("PYTHONPATH", "").split(os.pathsep)
sys.path[:0] = [folder for folder in path if os.path.isabs(folder)]
user = site.getusersitepackages()
if sys.prefix == sys.base_prefix and not os.environ.get("PYTHONNOUSERSITE") and os.path.isabs(user):
    site.addsitedir(user)

try:
    import duckdb
except ImportError:
    sys.exit(97)
if int(duckdb.__version__.split(".")[0]) < 1:
    sys.exit(98)
task = json.load(sys.stdin)


def without_end(statement):
    """Returns a statement without a semicolon and comments at its end, which views must not have."""
    text = statement.encode()
    # Positions are those of bytes.
    for position, kind in reversed(duckdb.tokenize(statement)):
        if kind != duckdb.token_type.comment and text[position : position + 1] != b";":
            break
        text = text[:position]
    return text.decode()


sys.stdout.reconfigure(encoding="utf-8", newline="\n")
try:
    connection = duckdb.connect()
    connection.execute(task["views"])
    rows = connection.sql(without_end(task["statement"]))
    if rows is None:
        pass
    elif task["form"] == "json":
        rows.create_view("transect_answer")
        objects = connection.execute("SELECT to_json(answer) FROM transect_answer AS answer")
        separator = "["
        while some := objects.fetchmany(1000):
            for (text,) in some:
                print(separator + text, end="")
                separator = ",\n"
        print("[]" if separator == "[" else "]")
    elif task["form"] == "csv":
        output = csv.writer(sys.stdout, lineterminator="\n")
        output.writerow(rows.columns)
        rows.create_view("transect_answer")
        texts = connection.execute("SELECT CAST(COLUMNS(*) AS VARCHAR) FROM transect_answer")
        while some := texts.fetchmany(1000):
            output.writerows(some)
    else:
        print(rows)
    sys.stdout.flush()
except duckdb.Error as error:
    print(error, file=sys.stderr)
    sys.exit(1)
except KeyboardInterrupt:
    os._exit(130)
except BrokenPipeError:
    # The reader closed the pipe.
    os._exit(0)
