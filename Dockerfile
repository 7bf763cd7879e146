# Builds from the registries alone: docker build -t driftanchor .
# How to run it: docs/how-to/operate.md
FROM python:3.12-slim AS build
WORKDIR /build
COPY pyproject.toml README.md LICENSE ./
COPY src ./src
RUN python -m venv /opt/driftanchor \
    && /opt/driftanchor/bin/pip install --no-cache-dir ".[fast,logs,postgres,serve]"

FROM python:3.12-slim
COPY --from=build /opt/driftanchor /opt/driftanchor
RUN useradd --system --uid 10001 --home-dir /data --create-home driftanchor
ENV PATH=/opt/driftanchor/bin:$PATH \
    DRIFTANCHOR_STORE=sqlite:////data/driftanchor.db \
    XDG_CACHE_HOME=/data/.cache
USER driftanchor
WORKDIR /data
VOLUME /data
EXPOSE 8484
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s \
    CMD ["python", "-c", "import urllib.request as u; u.urlopen('http://127.0.0.1:8484/livez', timeout=2)"]
ENTRYPOINT ["driftanchor"]
CMD ["serve", "--host", "0.0.0.0", "--port", "8484"]
