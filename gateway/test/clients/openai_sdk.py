"""Carries out orders with OpenAI's Python SDK."""
import json

from openai import OpenAI
from orders import serve
from pydantic import BaseModel

STEPS_MAX = 8
WEATHER = {
    "type": "function",
    "name": "get_weather",
    "description": "Says the weather of a city",
    "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    "strict": False,
}


class Place(BaseModel):
    city: str
    degrees: int


def client_of(order):
    return OpenAI(base_url=f"{order['url']}/v1", api_key=order["key"], max_retries=0)


def asked(order, given):
    # Nothing is stored, so reasoning comes and goes sealed.
    return {
        "model": order["model"],
        "input": given,
        "max_output_tokens": 2000,
        "store": False,
        "include": ["reasoning.encrypted_content"],
    }


def answer_of(response):
    summaries = [part.text for item in response.output if item.type == "reasoning" for part in item.summary]
    return {
        "text": response.output_text,
        "reasoning": "".join(summaries),
        "finishReason": response.status,
        "inputTokens": response.usage.input_tokens,
        "cacheReadTokens": response.usage.input_tokens_details.cached_tokens,
        "outputTokens": response.usage.output_tokens,
    }


def stream(client, params):
    pieces = []
    with client.responses.stream(**params) as events:
        for event in events:
            if event.type == "response.output_text.delta":
                pieces.append(event.delta)
        return pieces, events.get_final_response()


def ask(order):
    return answer_of(client_of(order).responses.create(**asked(order, order["question"])))


def ask_streamed(order):
    pieces, response = stream(client_of(order), asked(order, order["question"]))
    return {**answer_of(response), "pieces": pieces}


def run_tools(order):
    client = client_of(order)
    cities = []
    given = [{"role": "user", "content": order["question"]}]
    for steps in range(1, STEPS_MAX + 1):
        params = {**asked(order, given), "tools": [WEATHER]}
        response = stream(client, params)[1] if order["streamed"] else client.responses.create(**params)
        calls = [item for item in response.output if item.type == "function_call"]
        if not calls:
            return {"text": response.output_text, "cities": cities, "steps": steps}
        given += response.output
        for call in calls:
            city = json.loads(call.arguments)["city"]
            cities.append(city)
            given.append({"type": "function_call_output", "call_id": call.call_id, "output": f"sunny in {city}"})
    raise RuntimeError(f"no answer after {STEPS_MAX} steps")


def fill_schema(order):
    params = asked(order, order["question"])
    return client_of(order).responses.parse(**params, text_format=Place).output_parsed.model_dump()


serve({"ask": ask, "ask_streamed": ask_streamed, "run_tools": run_tools, "fill_schema": fill_schema})
