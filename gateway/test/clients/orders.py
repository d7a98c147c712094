"""Reads orders as lines of JSON, has each carried out, and prints a line with its result."""
import json
import sys


def serve(orders):
    for line in sys.stdin:
        order = json.loads(line)
        try:
            reply = {"result": orders[order["name"]](order)}
        except Exception as error:
            told = {"type": type(error).__name__, "code": getattr(error, "code", None), "message": str(error)}
            reply = {"error": told}
        print(json.dumps(reply), flush=True)
