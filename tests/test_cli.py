from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import Result
from typer.testing import CliRunner

import litefuse
from litefuse import api
from litefuse.cli import app
from litefuse.demo import SAVED_MODEL
from litefuse.demo import check as demo_check

