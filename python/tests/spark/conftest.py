"""A session for the tests of twinsift.spark."""
import os
import shutil
import sys

import pytest

os.environ["PYSPARK_PYTHON"] = sys.executable


@pytest.fixture(scope="session")
def spark():
    pyspark = pytest.importorskip("pyspark")
    if not (shutil.which("java") or os.environ.get("JAVA_HOME")):
        pytest.skip("Java is not there")
    builder = pyspark.sql.SparkSession.builder.master("local[2]")
    for name, value in {
        "spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false", "spark.sql.shuffle.partitions": "4",
        # Compiling, by Spark and then by Java, takes longer than the few rows of a test.
        "spark.sql.codegen.wholeStage": "false", "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1",
    }.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    yield session
    session.stop()
