"""Carries out orders with Google's Gen AI SDK for Python."""
from functools import cache

from google import genai
from google.genai import types
from orders import serve
from pydantic import BaseModel

STEPS_MAX = 8
THINKS = {"thinking_config": types.ThinkingConfig(include_thoughts=True)}
WEATHER = types.Tool(
    function_declarations=[
        types.FunctionDeclaration(
            name="get_weather",
            description="Says the weather of a city",
            parameters=types.Schema(
                type="OBJECT", properties={"city": types.Schema(type="STRING")}, required=["city"]
            ),
        )
    ]
)


class Place(BaseModel):
    city: str
    degrees: int


# A client that nothing refers to is closed, with what it gave out (3.4.0).
@cache
def client_at(url, key):
    options = types.HttpOptions(base_url=url, retry_options=types.HttpRetryOptions(attempts=1))
    return genai.Client(api_key=key, http_options=options)


def client_of(order):
    return client_at(order["url"], order["key"])


def parts_of(chunks):
    contents = [chunk.candidates[0].content for chunk in chunks if chunk.candidates]
    return [part for content in contents if content and content.parts for part in content.parts]


def words_of(chunks, is_thought):
    return [part.text for part in parts_of(chunks) if part.text and bool(part.thought) == is_thought]


def answer_of(chunks):
    usage = [chunk.usage_metadata for chunk in chunks if chunk.usage_metadata][-1]
    reasons = [chunk.candidates[0].finish_reason for chunk in chunks if chunk.candidates]
    return {
        "text": "".join(words_of(chunks, False)),
        "reasoning": "".join(words_of(chunks, True)),
        "finishReason": [reason.value for reason in reasons if reason][-1],
        "inputTokens": usage.prompt_token_count,
        "cacheReadTokens": usage.cached_content_token_count,
        "outputTokens": (usage.candidates_token_count or 0) + (usage.thoughts_token_count or 0),
    }


def asked(order, config):
    return {"model": order["model"], "contents": order["question"], "config": types.GenerateContentConfig(**config)}


def ask(order):
    return answer_of([client_of(order).models.generate_content(**asked(order, THINKS))])


def ask_streamed(order):
    chunks = list(client_of(order).models.generate_content_stream(**asked(order, THINKS)))
    return {**answer_of(chunks), "pieces": words_of(chunks, False)}


def run_tools(order):
    by_hand = types.AutomaticFunctionCallingConfig(disable=True)
    config = types.GenerateContentConfig(**THINKS, tools=[WEATHER], automatic_function_calling=by_hand)
    chat = client_of(order).chats.create(model=order["model"], config=config)
    cities = []
    message = order["question"]
    for steps in range(1, STEPS_MAX + 1):
        chunks = list(chat.send_message_stream(message)) if order["streamed"] else [chat.send_message(message)]
        calls = [part.function_call for part in parts_of(chunks) if part.function_call]
        if not calls:
            return {"text": "".join(words_of(chunks, False)), "cities": cities, "steps": steps}
        cities += [call.args["city"] for call in calls]
        results = [
            types.FunctionResponse(id=call.id, name=call.name, response={"output": f"sunny in {call.args['city']}"})
            for call in calls
        ]
        message = [types.Part(function_response=result) for result in results]
    raise RuntimeError(f"no answer after {STEPS_MAX} steps")


def fill_schema(order):
    config = {"response_mime_type": "application/json", "response_schema": Place}
    return client_of(order).models.generate_content(**asked(order, config)).parsed.model_dump()


serve({"ask": ask, "ask_streamed": ask_streamed, "run_tools": run_tools, "fill_schema": fill_schema})
