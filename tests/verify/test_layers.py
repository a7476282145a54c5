"""What layers are compared with, and how they are looked at."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import litefuse
from litefuse.runtime.interpreter import Interpreter
from litefuse.saved_model.messages import GraphDef
from litefuse.verify.layers import model_side
from litefuse.verify.layers.flat_graph import flatten
from litefuse.verify.layers.graph import layer_graph
from litefuse.verify.layers.model_side import ObservationJob, observe_model, values_file
from litefuse.verify.layers.names import same_order, value_node
from litefuse.verify.layers.observed import ObservedCopy
from litefuse.verify.layers.original_side import Wanted
from litefuse.verify.model_process import ModelJob
from litefuse.verify.original import Arrays, Call
