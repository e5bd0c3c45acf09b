"""Checks an entry for the public registry of deployments as its schema asks
(docs/privacy/registry.md), and prints what it says.

The registry's own checker is the authority; this one needs nothing but YAML: every field is one
that the schema has, of its type, those that are required are there, and the slug is the one that
the registry makes.
"""

import datetime
import re
import sys

import yaml

TEXTS = {
    "basic": "name intended_use data_product_type data_product_region description "
             "publication_date data_product_sector",
    "dp_variant": "variant_name data_domain unprotected_quantities",
    "privacy_loss": "privacy_unit privacy_unit_details privacy_parameters_details",
    "deployment_model": "model_name model_name_details actors release_type release_type_details "
                        "data_source_type "
    "data_source_type_details access_type access_type_details",
    "accounting": "post_processing composition",
    "implementation": "preprocessing_and_hyperparameter_tuning mechanisms justification",
    "administrative": "sources notes",
}
OTHERS = {"basic": {"data_curators": list}, "privacy_loss": {"privacy_parameters": dict},
          "administrative": {"registry_authors": list}}
REQUIRED = {
    "basic": "name data_curators description intended_use data_product_type data_product_region "
             "publication_date",
    "administrative": "registry_authors"
}
ONE_OF = {
    "data_product_type": ["Machine learning model"], "variant_name": ["Pure DP", "Approximate DP"],
    "model_name": ["Central"], "release_type": ["One release"], "data_source_type": ["Static"],
    "access_type": ["Non-interactive"], "data_product_sector": ["Education"]
}

entry = yaml.safe_load(open(sys.argv[1], encoding="utf-8"))
assert list(entry) == ["url_slug", "status", "tier", "deployment"], list(entry)
assert entry["status"] == "Draft" and entry["tier"] == 3
assert set(entry["deployment"]) == set(TEXTS), set(entry["deployment"])
for part, fields in entry["deployment"].items():
    for name, value in fields.items():
        wanted = OTHERS.get(part, {}).get(name, str)
        assert wanted is not str or name in TEXTS[part].split(), name
        assert isinstance(value, wanted), name
        assert name not in ONE_OF or value in ONE_OF[name], name
        # the registry's check of LaTeX
        assert wanted is not str or not re.search(r"\\\\[^()]", value), name
    missing = set(REQUIRED.get(part, "").split()) - set(fields)
    assert not missing, missing
basic = entry["deployment"]["basic"]
datetime.date.fromisoformat(basic["publication_date"])
slug = "_".join(
    re.sub(r"\W+", "_", part.lower())
    for part in (basic["name"], "-".join(basic["data_curators"]),
                 basic["publication_date"][:4])).replace("_", "-")
assert entry["url_slug"] == slug, (entry["url_slug"], slug)
numbers = entry["deployment"]["privacy_loss"]["privacy_parameters"]
assert all(isinstance(value, (int, float)) for value in numbers.values()), numbers
print(entry["url_slug"], basic["name"], basic["data_curators"], basic["publication_date"], numbers,
      sep=" | ")
