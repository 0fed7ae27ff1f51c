"""What tests need and a machine may lack: why they are skipped then."""

NO_POSTGRES = "TACIT_TEST_POSTGRES is not set: run `make test`, which brings up a PostgreSQL"
NO_CHROMIUM = "there is no Chromium: run `make test`, which installs one (scripts/get_chromium.sh)"
