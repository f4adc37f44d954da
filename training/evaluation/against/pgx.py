"""Pgx: games in JAX, compiled for a whole batch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import jax
import pgx
from pgx.experimental import act_randomly, auto_reset

from incunabula.envs.editions import BaseEdition
from incunabula.training.evaluation.against.suite import Contender, Suite, Traits
from incunabula.training.evaluation.bench_play import Stepped

# A solitaire and a game of two, both with chance, as ours are.
GAMES = ("2048", "backgammon")
ROLLOUT_STEPS = 100


class Implementation(Suite):
    """On the processor: one compiled call a step, and many steps in one compiled call."""

    name = "pgx"
    packages = ("pgx", "jax", "jaxlib")
    usual = (1, 1024)
    most = 1024

    def contenders(
        self, edition: BaseEdition, players: int, sizes: Sequence[int], seed: int
    ) -> Iterator[Contender]:
        make: Any = pgx.make
        for name in GAMES:
            env = make(name)
            for n in sizes:
                for view, kind in (("step", StepPlay), ("rollout", RolloutPlay)):
                    play = kind(env, n, seed)
                    traits = Traits(
                        plays=name,
                        technique="JAX (XLA), jit and vmap",
                        observation=_array(play.state.observation),
                        action_mask=_array(play.state.legal_action_mask),
                        autoreset="same step",
                        sampling_timed=view == "rollout",
                        threads=None,
                    )
                    yield Contender({"view": view, "num_envs": n}, traits, play)


def _array(batch: Any) -> str:
    """What one game has of a batch of arrays."""
    return f"{batch[0].size} {batch.dtype}"


class PgxPlay(Stepped):
    """N games, dealt anew by Pgx's own wrapper."""

    def __init__(self, env: Any, num_envs: int, seed: int) -> None:
        self.num_envs = num_envs
        self._move = jax.vmap(auto_reset(env.step, env.init))
        first = jax.device_put(jax.random.PRNGKey(seed), jax.devices("cpu")[0])
        self._key, key = jax.random.split(first)
        self.state: Any = jax.jit(jax.vmap(env.init))(jax.random.split(key, num_envs))

    def _draws(self, key: Any, mask: Any) -> tuple[Any, tuple[Any, Any]]:
        """The next key; random legal actions (N,) and the keys of the games' chance (N, …)."""
        key, of_actions, of_chance = jax.random.split(key, 3)
        return key, (act_randomly(of_actions, mask), jax.random.split(of_chance, self.num_envs))


class StepPlay(PgxPlay):
    """One compiled call a step; another one, before it, draws."""

    def __init__(self, env: Any, num_envs: int, seed: int) -> None:
        super().__init__(env, num_envs, seed)
        self._compiled_draws = jax.jit(self._draws)
        self._compiled_move = jax.jit(self._move)
        self.draw = self._draw
        self.mask = self.state.legal_action_mask
        self.step(self.draw(self.mask))  # compiles

    def _draw(self, mask: Any) -> Any:
        self._key, drawn = jax.block_until_ready(self._compiled_draws(self._key, mask))
        return drawn

    def step(self, actions: tuple[Any, Any]) -> int:
        self.state = jax.block_until_ready(self._compiled_move(self.state, *actions))
        self.mask = self.state.legal_action_mask
        self.decisions += self.num_envs
        return self.num_envs


class RolloutPlay(PgxPlay):
    """Many steps in one compiled call, drawing included."""

    mask = None

    def __init__(self, env: Any, num_envs: int, seed: int) -> None:
        super().__init__(env, num_envs, seed)
        self.draw = lambda mask: None
        self._rollout = jax.jit(self._steps)
        self.step(None)  # compiles

    def _steps(self, state: Any, key: Any) -> tuple[Any, Any]:
        def one(carry: tuple[Any, Any], _: None) -> tuple[tuple[Any, Any], None]:
            state, key = carry
            key, drawn = self._draws(key, state.legal_action_mask)
            return (self._move(state, *drawn), key), None

        carried: tuple[Any, Any] = jax.lax.scan(one, (state, key), length=ROLLOUT_STEPS)[0]
        return carried

    def step(self, actions: None) -> int:
        self.state, self._key = jax.block_until_ready(self._rollout(self.state, self._key))
        self.decisions += self.num_envs * ROLLOUT_STEPS
        return self.num_envs * ROLLOUT_STEPS
