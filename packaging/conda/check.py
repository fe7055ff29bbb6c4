"""check.py RECIPE: renders a recipe as rattler-build does, for Linux, and prints what would be built."""
import sys

import rattler_build as rattler

recipe = rattler.Stage0Recipe.from_file(sys.argv[1])
variants = rattler.VariantConfig({"c_compiler": ["gcc"], "c_stdlib": ["sysroot"], "c_stdlib_version": ["2.28"]})
for variant in recipe.render(variants):
    package = variant.recipe.package
    print(package.name, package.version)
    assert str(package.name) == "twinsift", "the recipe makes another package"
