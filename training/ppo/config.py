"""Training configurations: what `incunabula train` reads, checked before anything runs.

A configuration is a YAML file. Unknown fields are errors that name the nearest right one; every
error names the file and the field. Paths of fields are those of the file (`shaping.scale`).
"""

import importlib.resources
import math
import re
from collections.abc import Mapping
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, Self

import yaml
from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    ValidationError,
    model_validator,
)
from pydantic_core import PydanticCustomError

from incunabula.envs.backend import BACKENDS
from incunabula.envs.chance import MASK64
from incunabula.envs.documents import (
    FLAG,
    LIST,
    TEXT,
    DocumentError,
    Expected,
    Problem,
    did_you_mean,
    explain,
    no_such,
    one_of,
    read_yaml,
    show,
    whole,
)
from incunabula.envs.scriptorium.edition_checks import MAX_PLAYERS
from incunabula.envs.scriptorium.payoffs import REWARDS

MAX_STEPS = 10**12
MAX_BATCH = 2**20
Text = Annotated[str, TEXT]


class ConfigError(DocumentError):
    """A training configuration can't be used: no such file or name, or something in it is wrong."""


def number(low: float, high: float, *, open_low: bool = False) -> Expected:
    """A number between two bounds, both allowed (or `low` not, if `open_low`)."""
    what = f"a number {'above' if open_low else 'from'} {low:g} {'and up' if open_low else ''} to"
    return Expected(
        f"{' '.join(what.split())} {high:g}",
        lambda value: (
            type(value) in (int, float)
            and math.isfinite(value)
            and (low < value if open_low else low <= value)
            and value <= high
        ),
    )


class _Part(BaseModel):
    model_config: ClassVar[ConfigDict] = ConfigDict(extra="forbid", frozen=True)


class Schedule(_Part):
    """A value that goes linearly from `start` to `end` over the training steps."""

    start: Annotated[float, number(0, 1)]
    end: Annotated[float, number(0, 1)]

    def at(self, remaining: float) -> float:
        """The value when `remaining` (1 at the beginning, 0 at the end) of training is left."""
        return self.end + (self.start - self.end) * remaining


class Network(_Part):
    """Policy and value networks.

    `mlp`: two separate networks of these layers. Bibliogamo's `cards`: the same, but hand cards
    enter and are chosen through features of the cards instead of hand slots, `card_dim` numbers a
    card; `towers`: as `cards`, and towers are looked at one by one too, `tower_dim` numbers a
    tower. Scriptorium's `tiles`: designs are looked at one by one, `tile_dim` numbers a design.
    """

    kind: Annotated[
        Literal["mlp", "cards", "towers", "tiles"], one_of("mlp", "cards", "towers", "tiles")
    ] = "mlp"
    layers: Annotated[tuple[Annotated[int, whole(1, 4096)], ...], LIST] = (256, 256)
    value_layers: Annotated[tuple[Annotated[int, whole(1, 4096)], ...], LIST] = ()
    """Layers of the value network; empty = as the policy's."""
    activation: Annotated[Literal["tanh", "relu"], one_of("tanh", "relu")] = "tanh"
    card_dim: Annotated[int, whole(1, 1024)] = 32
    tower_dim: Annotated[int, whole(1, 1024)] = 32
    tile_dim: Annotated[int, whole(1, 1024)] = 32
    advisor: Annotated[Literal["greedy"], one_of("greedy")] | None = None
    """An agent whose choice the policy hears: it starts as that agent and learns where to depart
    from it."""
    advice: Annotated[float, number(0, 100)] = 5.0
    """What the advisor's choice adds to its logit."""

    @model_validator(mode="after")
    def _check_layers(self) -> Self:
        for name in ("layers", "value_layers"):
            if len(getattr(self, name)) > 8:
                raise PydanticCustomError("layers", "has more than 8 layers")
        if not self.layers:
            raise PydanticCustomError("layers", "layers must name at least one layer")
        return self


class Shaping(_Part):
    """The potential of a position; see `shaping.py` for what each number means."""

    scale: Annotated[float, number(0, 100)] = 3.0
    power: Annotated[float, number(0.1, 10)] = 2.0
    """Exponent of a tower's share of artisans: above 1 favours nearly complete towers."""
    late_days: Annotated[float, number(0, 1000, open_low=True)] = 6.0
    """The potential fades to 0 over this many last days."""
    day_value: Annotated[float, number(0, 10)] = 0.0
    """Points a day that is left is worth."""


class Clone(_Part):
    """Imitating a teacher before PPO starts."""

    teacher: Text = "greedy"
    decisions: Annotated[int, whole(1_000, 10**9)] = 1_000_000
    epochs: Annotated[int, whole(1, 1000)] = 6
    learning_rate: Annotated[float, number(0, 1, open_low=True)] = 1e-3
    batch_size: Annotated[int, whole(1, MAX_BATCH)] = 4096
    num_envs: Annotated[int, whole(1, 2**16)] = 1024


class Evaluation(_Part):
    """Masked evaluation of the argmax policy on the `dev` seeds during training.

    `games` are deals; each is played from every seat, against each baseline.
    """

    every: Annotated[int, whole(1, MAX_STEPS)] = 500_000
    games: Annotated[int, whole(1, 10**6)] = 500
    exact: Annotated[bool, FLAG] = False
    """Work out the policy's exact value and its regret, too; for editions that can be solved."""


class TrainConfig(_Part):
    """What every training run is decided by; two runs of one configuration are the same run."""

    game: str
    edition: Text
    seed: Annotated[int, whole(0, MASK64)] = 0
    total_steps: Annotated[int, whole(1, MAX_STEPS)]
    num_envs: Annotated[int, whole(1, 2**16)] = 512
    n_steps: Annotated[int, whole(1, 2**16)] = 128
    batch_size: Annotated[int, whole(2, MAX_BATCH)] = 4096
    n_epochs: Annotated[int, whole(1, 100)] = 3
    gamma: Annotated[float, number(0, 1)] = 0.999
    gae_lambda: Annotated[float, number(0, 1)] = 0.95
    learning_rate: Schedule = Schedule(start=1e-3, end=1e-4)
    entropy: Schedule = Schedule(start=0.01, end=0.0005)
    clip: Annotated[float, number(0, 10, open_low=True)] = 0.2
    vf_coef: Annotated[float, number(0, 100)] = 0.5
    max_grad_norm: Annotated[float, number(0, 1e6, open_low=True)] = 0.5
    network: Network = Network()
    reward_scale: Annotated[float, number(0, 1e3, open_low=True)] = 0.1
    skip_forced: Annotated[bool, FLAG] = False
    """Play decisions with one legal action without asking (or training) the network."""
    clone: Clone | None = None
    eval: Evaluation = Evaluation()
    checkpoint_every: Annotated[int, whole(1, MAX_STEPS)] = 1_000_000
    precision: Annotated[Literal["auto", "float32", "bf16"], one_of("auto", "float32", "bf16")] = (
        "auto"
    )
    torch_threads: Annotated[int, whole(1, 1024)] = 1
    backend: Annotated[Literal["numpy", "numba", "auto"], one_of(*BACKENDS)] = "auto"
    """The engine's; `auto` is numba where it is installed. Changes only the time taken."""

    KINDS: ClassVar[tuple[str, ...]] = ()
    """Networks that understand the game."""

    @model_validator(mode="after")
    def _check_sizes(self) -> Self:
        if self.batch_size > self.rollout:
            raise PydanticCustomError(
                "batch",
                "batch_size ({batch}) must be at most num_envs x n_steps ({rollout})",
                {"batch": self.batch_size, "rollout": self.rollout},
            )
        if self.network.kind not in self.KINDS:
            raise PydanticCustomError(
                "network",
                "network.kind: is {kind}, but must be one of {kinds} for {game}",
                {
                    "kind": self.network.kind,
                    "kinds": ", ".join(self.KINDS),
                    "game": self.game,
                },
            )
        return self

    @property
    def rollout(self) -> int:
        """Steps of one rollout, the unit of training."""
        return self.num_envs * self.n_steps

    def to_yaml(self) -> str:
        """The configuration as a file that loads to the same one."""
        return yaml.safe_dump(self.model_dump(mode="json"), sort_keys=False, width=100)


class BibliogamoConfig(TrainConfig):
    """A run that learns Bibliogamo."""

    KINDS: ClassVar[tuple[str, ...]] = ("mlp", "cards", "towers")

    game: Annotated[Literal["bibliogamo"], one_of("bibliogamo")]
    edition: Text = "bibliogamo"
    algorithm: Annotated[Literal["maskable_ppo", "ppo"], one_of("maskable_ppo", "ppo")] = (
        "maskable_ppo"
    )
    """`ppo` is plain SB3 PPO: it sees no masks, and an illegal action costs `illegal_reward`."""
    illegal_reward: Annotated[float, number(-1e6, 0)] = -1.0
    shaping: Shaping | None = None

    @model_validator(mode="after")
    def _check_algorithm(self) -> Self:
        if self.algorithm == "maskable_ppo":
            return self
        for name, used, words in (
            ("clone", self.clone is not None, "null"),
            ("network.advisor", self.network.advisor is not None, "null"),
            ("network.kind", self.network.kind != "mlp", "mlp"),
        ):
            if used:
                raise PydanticCustomError(
                    "algorithm",
                    "{name} must be {words} unless algorithm is maskable_ppo",
                    {"name": name, "words": words},
                )
        return self


class Reward(_Part):
    """What a seat is paid: a mixture of the game's three rewards, each times its weight."""

    outcome: Annotated[float, number(0, 1000)] = 0.0
    margin: Annotated[float, number(0, 1000)] = 0.0
    score: Annotated[float, number(0, 1000)] = 0.0

    @model_validator(mode="after")
    def _check_any(self) -> Self:
        if not self.outcome + self.margin + self.score:
            raise PydanticCustomError("reward", "outcome, margin and score can't all be 0")
        return self


class Opponents(_Part):
    """Whom the learner meets: weights of what sits in the other seats of a table.

    `self`: the learner's own latest weights, whose decisions it learns from too; `past`: one of its
    snapshots (itself while there is none); `greedy` and `random`: the baselines.
    """

    self: Annotated[float, number(0, 1000)] = 0.5
    past: Annotated[float, number(0, 1000)] = 0.2
    greedy: Annotated[float, number(0, 1000)] = 0.3
    random: Annotated[float, number(0, 1000)] = 0.0

    @model_validator(mode="after")
    def _check_any(self) -> Self:
        if not sum(self.weights):
            raise PydanticCustomError("opponents", "self, past, greedy and random can't all be 0")
        return self

    @property
    def weights(self) -> tuple[float, float, float, float]:
        """Of self, past, greedy and random."""
        return self.self, self.past, self.greedy, self.random


class Past(_Part):
    """Snapshots of the policy, which it meets again as opponents."""

    every: Annotated[int, whole(1, MAX_STEPS)] = 500_000
    """Steps from one snapshot to the next."""
    size: Annotated[int, whole(1, 64)] = 8
    """How many are kept; the oldest gives way."""


def _as_list(value: Any) -> Any:
    return [value] if type(value) is int else value


def _as_mixture(value: Any) -> Any:
    """ "outcome" means {"outcome": 1}."""
    return {value: 1.0} if isinstance(value, str) and value in REWARDS else value


class ScriptoriumConfig(TrainConfig):
    """A run that learns Scriptorium by playing against itself and others."""

    KINDS: ClassVar[tuple[str, ...]] = ("mlp", "tiles")

    game: Annotated[Literal["scriptorium"], one_of("scriptorium")]
    edition: Text = "scriptorium"
    players: Annotated[
        tuple[Annotated[int, whole(2, MAX_PLAYERS)], ...],
        Expected(
            "a number of players or a list of such numbers, each once",
            lambda value: (
                type(value) is int
                or (
                    isinstance(value, list | tuple)
                    and 0 < len(value) == len({str(each) for each in value})
                )
            ),
        ),
        BeforeValidator(_as_list),
    ] = (2, 3, 4)
    """Numbers of players at the tables; the games are shared out among them."""
    reward: Annotated[Reward, BeforeValidator(_as_mixture)] = Reward(outcome=1.0, margin=0.05)
    reward_scale: Annotated[float, number(0, 1e3, open_low=True)] = 1.0
    opponents: Opponents = Opponents()
    past: Past = Past()
    skip_forced: Annotated[bool, FLAG] = True

    @model_validator(mode="after")
    def _check_tables(self) -> Self:
        if self.eval.exact:
            raise PydanticCustomError(
                "exact", "eval.exact must be false: exact values are of Bibliogamo alone"
            )
        games = [self.num_envs] if self.clone is None else [self.num_envs, self.clone.num_envs]
        if min(games) < len(self.players):
            raise PydanticCustomError(
                "players",
                "num_envs ({games}) must be at least the numbers of players ({players})",
                {"games": min(games), "players": len(self.players)},
            )
        return self


CONFIGS: dict[str, type[TrainConfig]] = {
    "bibliogamo": BibliogamoConfig,
    "scriptorium": ScriptoriumConfig,
}


# ---------------------------------------------------------------------------------------------
# Loading


def shipped_configs() -> list[str]:
    """Names of the configurations that come with the package, by name."""
    return sorted(_shipped_files())


def load_config(which: str | Path | Mapping[str, Any] | TrainConfig) -> TrainConfig:
    """A configuration by shipped name, by file, or from plain values.

    Raises:
        ConfigError: naming the file, every field that is wrong, and what would be right.
    """
    if isinstance(which, TrainConfig):
        return which
    if isinstance(which, Mapping):
        return _validate(which, "configuration", [])
    text = str(which)
    if not text.strip():
        raise ConfigError("configuration", [Problem("", "the name or path is empty")])
    shipped = _shipped_files()
    if isinstance(which, str) and text in shipped:
        with importlib.resources.as_file(shipped[text]) as path:
            return _load_file(path)
    path = Path(which)
    if not path.exists() and path.suffix not in (".yaml", ".yml"):
        raise ConfigError(text, [Problem("", no_such("configuration", text, shipped))])
    if path.is_dir():
        raise ConfigError(text, [Problem("", "is a folder, not a configuration file")])
    return _load_file(path)


def with_overrides(config: TrainConfig, **changes: Any) -> TrainConfig:
    """The configuration with some top-level fields replaced (None = as it is), checked again."""
    given = {name: value for name, value in changes.items() if value is not None}
    if not given:
        return config
    return _validate(config.model_dump(mode="json") | given, "options", [])


def _shipped_files() -> dict[str, Traversable]:
    folder = importlib.resources.files("incunabula.configs") / "training"
    return {
        file.name.removesuffix(".yaml"): file
        for file in folder.iterdir()
        if file.name.endswith(".yaml")
    }


def _load_file(path: Path) -> TrainConfig:
    try:
        document = read_yaml(path)
    except DocumentError as error:
        raise ConfigError(error.source, error.problems) from None
    return _validate(document.data, str(path), document.problems)


def _read_exponents(value: Any) -> Any:
    """3e-4, which YAML takes for text because it has no point, as the number that is meant."""
    if isinstance(value, Mapping):
        return {key: _read_exponents(each) for key, each in value.items()}
    if isinstance(value, str) and re.fullmatch(r"[+-]?\d+(\.\d*)?[eE][+-]?\d{1,3}", value):
        return float(value)
    return value


def _validate(data: Any, source: str, known: list[Problem]) -> TrainConfig:
    problems = list(known)
    if not isinstance(data, Mapping):
        fields = ", ".join(TrainConfig.model_fields)
        raise ConfigError(source, [*problems, Problem("", f"must be a mapping with {fields}")])
    game = data.get("game")
    if not isinstance(game, str) or game not in CONFIGS:
        wanted = one_of(*CONFIGS).what
        message = f"is missing; it must be {wanted}"
        if "game" in data:
            message = f"is {show(game)}, but must be {wanted}{did_you_mean(game, CONFIGS)}"
        raise ConfigError(source, [*problems, Problem("game", message)])
    model, config = CONFIGS[game], None
    try:
        config = model.model_validate(_read_exponents(data))
    except ValidationError as error:
        problems += explain(error, model)
    if problems or config is None:
        raise ConfigError(source, problems)
    return config
