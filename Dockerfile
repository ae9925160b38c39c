# docker build -t citeloop .
# docker run -v citeloop:/data -v ./docs:/docs:ro citeloop ingest /docs --collection docs
# docker run -p 8080:8080 -v citeloop:/data -v ./token.txt:/run/secrets/citeloop-token:ro citeloop
FROM node:24-slim AS build
WORKDIR /source
COPY package.json package-lock.json ./
RUN npm ci --ignore-scripts
COPY . .
RUN npm run build && npm pack --ignore-scripts --pack-destination /tmp

FROM node:24-slim
COPY --from=build /tmp/citeloop-*.tgz /tmp/
RUN npm install --global --omit=dev /tmp/citeloop-*.tgz && rm -r /tmp/citeloop-*.tgz "$HOME/.npm" \
  && mkdir /data && chown node /data
USER node
WORKDIR /data
# The embedding model is downloaded into the volume when it is first used.
ENV CITELOOP_HOME=/data XDG_CACHE_HOME=/data/cache
VOLUME /data
EXPOSE 8080
ENTRYPOINT ["citeloop"]
CMD ["serve", "--host", "0.0.0.0", "--port", "8080", "--token-file", "/run/secrets/citeloop-token"]
