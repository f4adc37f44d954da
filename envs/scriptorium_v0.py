"""Scriptorium for PettingZoo: ``from incunabula.envs import scriptorium_v0``.

``scriptorium_v0.env(...)`` and ``scriptorium_v0.raw_env(...)`` make the AEC environment; see
``raw_env`` for what they take. Needs the extra ``incunabula[pettingzoo]``.
"""

from incunabula.envs.adapters.pettingzoo import env, raw_env

__all__ = ["env", "raw_env"]
