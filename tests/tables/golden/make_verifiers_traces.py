"""Write the golden traces of verifiers with its own writer: pip install verifiers==0.4.0, python make_verifiers_traces.py.

Four tasks with three rollouts each in free order. One rollout failed before the LLM said anything, one took two turns
(a tool was called), one message has parts, and a second reward was not computed everywhere.
"""

from pathlib import Path

from verifiers.v1.configs.agent import AgentConfig
from verifiers.v1.episode import EnvInfo, Episode
from verifiers.v1.graph import MessageNode
from verifiers.v1.task import Task, WireTaskData
from verifiers.v1.trace import AgentInfo, Trace, TraceTask
from verifiers.v1.types import AssistantMessage, SystemMessage, ToolCall, ToolMessage, UserMessage
from verifiers.v1.utils.trace_store import TRACES_FILE, write_episode

HERE = Path(__file__).parent / "verifiers_traces"
ANSWERS = {"2 + 3": "5 5 6", "6 * 7": "42 41 42", "9 - 5": "5 5 4", "8 / 2": "4 4 4"}
GOLD = {"2 + 3": "5", "6 * 7": "42", "9 - 5": "4", "8 / 2": "4"}
(HERE / TRACES_FILE).unlink(missing_ok=True)

for k in range(3):
    for i, question in enumerate(ANSWERS):
        prompt = f"What is {question}?"
        data = WireTaskData(idx=i, prompt=prompt, system_prompt="Be brief.", answer=GOLD[question])
        task = TraceTask(type="SumTask", data=data, key=Task(data).key, hash=Task(data).hash)
        trace = Trace(task=task, agent=AgentInfo(config=AgentConfig(model="org/mock")))
        trace.nodes = [
            MessageNode(message=SystemMessage(content="Be brief.")),
            MessageNode(message=UserMessage(content=prompt), parent=0),
        ]
        said = ANSWERS[question].split()[k]
        if (i, k) == (3, 2):
            trace.record_error(RuntimeError("the sandbox is gone"))
            trace.rewards = {"exact": None, "style": None}
        else:
            if (i, k) == (1, 0):
                call = ToolCall(id="1", name="times", arguments='{"a": 6, "b": 7}')
                trace.nodes += [
                    MessageNode(message=AssistantMessage(content="I ask.", tool_calls=[call]), parent=1, sampled=True),
                    MessageNode(message=ToolMessage(tool_call_id="1", content="42"), parent=2),
                ]
            last = AssistantMessage(content=f"The answer is {said}.")
            trace.nodes.append(MessageNode(message=last, parent=len(trace.nodes) - 1, sampled=True))
            trace.record_reward("exact", float(said == GOLD[question]))
            trace.record_reward("style", 0.1 * (i + k + 1), weight=0.5)
            trace.ok = trace.is_completed = True
        write_episode(HERE, Episode(env=EnvInfo(id="sums"), task=task, traces=[trace], ok=trace.ok))
