# The server without development dependencies, as an unprivileged user. Its root may be read-only; it writes to /data.

FROM node:24-slim AS dependencies
WORKDIR /app
COPY package.json package-lock.json ./
# No install scripts: no production dependency has one, and none may come in unseen.
RUN --mount=type=cache,target=/root/.npm npm ci --omit=dev --ignore-scripts --no-audit --no-fund

FROM node:24-slim
ENV NODE_ENV=production HOST=0.0.0.0 PORT=3000 DATA_DIR=/data
WORKDIR /app
COPY --from=dependencies /app/node_modules ./node_modules
COPY package.json ./
COPY migrations ./migrations
COPY src ./src
RUN mkdir -p /data node_modules/.cache && chown node:node /data node_modules/.cache
USER node
# As the user who copies it at a first start.
RUN npm run postinstall
EXPOSE 3000
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/healthz`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
# The flag saves about 100 MB: see docs/embeddings.md.
CMD ["node", "--max-semi-space-size=4", "src/main.ts"]
