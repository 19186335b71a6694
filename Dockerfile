# The image of every process of Kunline: API, worker, scheduler, migrate, and a runner on a CPU.
#
# Written for docker-compose.yml and not built on the machine where it was written, which has no
# container engine: read it as a proposal until somebody has.

FROM node:24-slim AS web

# The locked packages alone, so that a change of a page leaves this layer as it is.
COPY web/package.json web/package-lock.json web/.npmrc /web/
RUN cd /web && npm ci --ignore-scripts
COPY web /web
RUN cd /web && npm run build


FROM python:3.12-slim AS build

ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1
RUN python -m venv /opt/kunline

# The locked packages alone, so that a change of our own code leaves this layer as it is.
COPY requirements.lock /build/
RUN /opt/kunline/bin/pip install --require-hashes --only-binary :all: -r /build/requirements.lock

# Our own distribution, by the hatchling that the lock pins, into a folder of its own: what it
# brings, the migrations and the dashboard, and the matrix are found beside the two packages, as
# in a checkout.
COPY pyproject.toml README.md LICENSE /build/
COPY service /build/service
COPY runners /build/runners
COPY migrations /build/migrations
COPY --from=web /web/dist /build/web/dist
RUN /opt/kunline/bin/pip install --no-deps --no-build-isolation --target /srv/kunline /build \
    && echo /srv/kunline > "$(/opt/kunline/bin/python -c \
        'import sysconfig; print(sysconfig.get_path("purelib"))')/kunline.pth"
COPY matrix /srv/kunline/matrix


FROM python:3.12-slim

RUN useradd --system --uid 10001 --no-create-home --home-dir /var/lib/kunline kunline \
    && install --directory --owner kunline --group kunline \
        /var/lib/kunline /var/lib/kunline-runner

COPY --from=build /opt/kunline /opt/kunline
COPY --from=build /srv/kunline /srv/kunline

ENV PATH=/srv/kunline/bin:/opt/kunline/bin:$PATH PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1
WORKDIR /srv/kunline
USER kunline
EXPOSE 8000
CMD ["kunline", "serve"]
