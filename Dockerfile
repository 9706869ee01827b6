# One image for every role: production dependencies only, no build step, nothing writable but /data, /backups and /tmp.
FROM node:24-bookworm-slim AS dependencies
WORKDIR /app
COPY package.json package-lock.json ./
# No package that the service runs on needs an install script; without them the package of Node is empty, too.
RUN npm ci --omit=dev --ignore-scripts --no-audit --no-fund

FROM node:24-bookworm-slim
ENV NODE_ENV=production HOST=0.0.0.0 PORT=3000 DATA_DIR=/data NODE_COMPILE_CACHE=/app/compiled
# One arena of glibc for all threads takes less memory.
ENV MALLOC_ARENA_MAX=1
WORKDIR /app
RUN mkdir /data /backups compiled && chown node:node /data /backups compiled
COPY --from=dependencies /app/node_modules ./node_modules
COPY package.json LICENSE ./
COPY bin ./bin
COPY src ./src
COPY sdk/package.json sdk/README.md ./sdk/
COPY sdk/src ./sdk/src
COPY deploy/eventstore ./deploy/eventstore
COPY deploy/backup ./deploy/backup
USER node
# A container's file system is read-only: what a start loads is compiled here, by a service that runs for some seconds, and a command beside it.
RUN export DATA_DIR=/tmp/compiling; (sleep 10; bin/linkledger account create --email compiling@example.com) \
  & timeout --preserve-status 20 bin/linkledger serve \
  && rm -r "$DATA_DIR"
VOLUME /data
EXPOSE 3000
# Whether the process lives: a store that is away is no reason to take a node out, redirects go on without it.
HEALTHCHECK --interval=15s --timeout=5s --start-period=30s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/health/live`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
# It replaces itself by Node, which gets the signals as the first process.
ENTRYPOINT ["/app/bin/linkledger"]
CMD ["serve"]
