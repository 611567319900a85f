import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import http2 from "node:http2";
import { type RequestOptions, request } from "node:https";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import WebSocket from "ws";
import { eventually } from "../../../test/support/time.ts";
import { makeCa, makeCertificate, OID, person } from "../../base/pki/certificates.suite.ts";
import { drivenEnvironment } from "../../base/util/environment.suite.ts";
import { type Config, defaultConfig } from "../../programs/server/config.ts";
import { type Server, startServer } from "../../programs/server/server.ts";
import { startIssuer, type TestIssuer } from "./oidc/issuer.suite.ts";

const WHOAMI = "/apis/authentication.k8s.io/v1/selfsubjectreviews";

/** Returns the user name that the server reports for a request, or the status code if it is not 201. */
async function whoami(url: string, options: RequestOptions = {}): Promise<string | number> {
  const headers = { "content-type": "application/json", ...options.headers };
  const call = request(`${url}${WHOAMI}`, {
    method: "POST",
    rejectUnauthorized: false,
    agent: false,
    ...options,
    headers,
  });
  call.end('{"kind":"SelfSubjectReview","apiVersion":"authentication.k8s.io/v1"}');
  const [response] = await once(call, "response");
  const body = JSON.parse(Buffer.concat(await response.toArray()).toString());
  return response.statusCode === 201 ? body.status.userInfo.username : response.statusCode;
}

const never = (): Promise<void> => assert.fail("it has started");
const bearer = (token: string): RequestOptions => ({ headers: { authorization: `Bearer ${token}` } });

describe("authentication of a server", () => {
  let folder: string;
  const environment = drivenEnvironment();
  environment.clock.set(Date.now());
  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), "binnacle-authentication-"));
  });
  after(() => rm(folder, { recursive: true }));

  async function started(name: string, more: Partial<Config>, run: (server: Server) => Promise<void>): Promise<void> {
    const certDir = path.join(folder, name);
    const config = { ...defaultConfig, certDir, securePort: 0, shutdownGraceMs: 0, controllers: "none", ...more };
    const server = await startServer(config, environment);
    try {
      await run(server);
    } finally {
      await server.close();
    }
  }

  it("without configuration accepts only the administrator's token and certificate", async () => {
    await started("plain", {}, async ({ url, token }) => {
      assert.equal(await whoami(url, bearer(token)), "kubernetes-admin");
      const [cert, key] = await Promise.all(
        ["admin.crt", "admin.key"].map((file) => readFile(path.join(folder, "plain", file), "utf8")),
      );
      assert.equal(await whoami(url, { cert, key }), "kubernetes-admin");
      const foreign = makeCertificate({ issuer: makeCa("binnacle-ca"), subject: person("x", "system:masters") });
      assert.equal(await whoami(url, { cert: foreign.pem, key: foreign.keyPem }), 401);
      assert.equal(await whoami(url, bearer("wrong")), 401);
      assert.equal(await whoami(url), 403, "anonymous");
      for (const spell of [
        (name: string) => name,
        (name: string) => name.toLowerCase(),
        (name: string) => name.toUpperCase(),
      ]) {
        const headers = { [spell("X-Remote-User")]: ["admin", "admin"], [spell("X-Remote-Group")]: "system:masters" };
        assert.equal(await whoami(url, { headers }), 403, "proxy headers without a proxy certificate");
        assert.equal(await whoami(url, { headers, cert: foreign.pem, key: foreign.keyPem }), 401);
      }
      const serving = await Promise.all(
        ["apiserver.crt", "apiserver.key"].map((file) => readFile(path.join(folder, "plain", file), "utf8")),
      );
      assert.equal(await whoami(url, { cert: serving[0], key: serving[1] }), 401, "the server's own certificate");
    });
  });

  it("reloads the client CA file, also for open connections", async () => {
    const [one, two] = [makeCa("one"), makeCa("two")];
    const clientCaFile = path.join(folder, "clients.pem");
    await writeFile(clientCaFile, one.pem);
    const certificates = [one, two].map((issuer) => makeCertificate({ issuer, subject: person("alice") }));
    const [first, second] = certificates.map(({ pem, keyPem }) => ({ cert: pem, key: keyPem }));
    await started("reload", { clientCaFile }, async ({ url }) => {
      const session = http2.connect(url, { rejectUnauthorized: false, ...first });
      const status = async (): Promise<unknown> => {
        const stream = session.request({ ":path": "/api" });
        const [headers] = await once(stream, "response");
        stream.close();
        return headers[":status"];
      };
      assert.equal(await status(), 200);
      assert.deepEqual([await whoami(url, first), await whoami(url, second)], ["alice", 401]);
      await writeFile(clientCaFile, two.pem);
      await eventually(async () => {
        await environment.clock.advance(1000);
        return (await whoami(url, second)) === "alice";
      });
      assert.equal(await whoami(url, first), 401);
      assert.equal(await status(), 401, "the same connection as before");
      await eventually(() => session.closed || session.destroyed, { what: "GOAWAY after a 401" });
      session.destroy();
    });
  });

  it("closes an HTTP/2 connection after an anonymous request, but not an authenticated one", async () => {
    await started("goaway", {}, async ({ url, token }) => {
      const session = http2.connect(url, { rejectUnauthorized: false });
      const stream = session.request({ ":path": "/livez" });
      const [headers] = await once(stream, "response");
      assert.deepEqual([headers[":status"], headers.connection], [200, undefined]);
      stream.resume();
      await once(session, "close");
      const known = http2.connect(url, { rejectUnauthorized: false });
      for (let count = 0; count < 3; count++) {
        const again = known.request({ ":path": "/api", authorization: `Bearer ${token}` });
        assert.equal((await once(again, "response"))[0][":status"], 200);
        again.resume();
        await once(again, "close");
      }
      assert.equal(known.closed, false);
      known.destroy();
    });
  });

  it("accepts a token among the WebSocket subprotocols, and negotiates another one", async () => {
    await started("websocket", {}, async ({ url, token }) => {
      const protocol = `base64url.bearer.authorization.k8s.io.${Buffer.from(token).toString("base64url")}`;
      const open = async (protocols: string[]): Promise<string | number> => {
        const target = `${url.replace("https", "wss")}/api/v1/namespaces?watch=true`;
        const socket = new WebSocket(target, protocols, { rejectUnauthorized: false, origin: "https://localhost" });
        const refused = once(socket, "unexpected-response").then(([, response]) => Number(response.statusCode));
        const got = await Promise.race([once(socket, "open").then(() => socket.protocol), refused]);
        socket.on("error", () => {});
        socket.terminate();
        return got;
      };
      assert.equal(await open([protocol, "binary.k8s.io"]), "binary.k8s.io");
      assert.equal(await open([`${protocol}x`, "binary.k8s.io"]), 401);
      assert.equal(await open([protocol]), 401, "missing additional subprotocol");
      assert.equal(await open(["binary.k8s.io"]), 403, "anonymous");
    });
  });

  it("rejects overlapping CAs of clients and proxies without --requestheader-allowed-names", async () => {
    const file = path.join(folder, "both.pem");
    await writeFile(file, makeCa("both").pem);
    const headers = { usernameHeaders: ["X-Remote-User"], uidHeaders: [], groupHeaders: [], extraHeaderPrefixes: [] };
    const frontProxy = { clientCaFile: file, allowedNames: [], ...headers };
    const more = { clientCaFile: file, authentication: { bootstrapTokens: false, frontProxy } };
    await assert.rejects(started("overlap", more, never), /contain overlapping certificates; --requestheader-allowed/);
  });

  it("restricts anonymous requests to the paths of the AuthenticationConfiguration", async () => {
    const configFile = path.join(folder, "anonymous.yaml");
    const kind = "apiVersion: apiserver.config.k8s.io/v1\nkind: AuthenticationConfiguration\n";
    await writeFile(configFile, `${kind}anonymous: {enabled: true, conditions: [{path: /livez}]}\n`);
    const authentication = { bootstrapTokens: false, configFile };
    const status = async (url: string, wanted: string): Promise<number> => {
      const call = request(`${url}${wanted}`, { rejectUnauthorized: false, agent: false }).end();
      const [response] = await once(call, "response");
      response.resume();
      return response.statusCode;
    };
    await started("anonymous", { authentication }, async ({ url }) => {
      for (const [wanted, code] of [
        ["/livez", 200],
        ["/livez/", 401],
        ["/readyz", 401],
        ["/api", 401],
      ] as const) {
        assert.equal(await status(url, wanted), code, wanted);
      }
    });
    const both = { authentication: { ...authentication, anonymous: true } };
    await assert.rejects(
      started("both", both, never),
      /^Error: anonymous: Forbidden: --anonymous-auth flag cannot be set/,
    );
  });

  describe("with a token issuer", () => {
    let issuer: TestIssuer;
    before(async () => {
      issuer = await startIssuer();
    });
    after(() => issuer.close());

    it("accepts tokens according to the --oidc-* flags", async () => {
      const caFile = path.join(folder, "issuer.pem");
      await writeFile(caFile, issuer.authority);
      const oidc = {
        ...{ issuerUrl: issuer.url, clientId: "binnacle", caFile, usernameClaim: "sub", usernamePrefix: "" },
        ...{ groupsClaim: "", groupsPrefix: "", signingAlgs: ["RS256"], requiredClaims: { tenant: "x" } },
      };
      await started("flags", { authentication: { bootstrapTokens: false, oidc } }, async ({ url }) => {
        await eventually(async () => (await whoami(url, bearer(issuer.token()))) === `${issuer.url}#alice`);
        assert.equal(await whoami(url, bearer(issuer.token({ tenant: "y" }))), 401);
      });
      const wrong = { ...oidc, signingAlgs: ["HS256"] };
      const refused = started("algorithm", { authentication: { bootstrapTokens: false, oidc: wrong } }, never);
      await assert.rejects(refused, /^Error: oidc: unsupported signing alg: "HS256"$/);
    });

    it("reloads the AuthenticationConfiguration, and keeps the previous one if the new one is invalid", async () => {
      const configFile = path.join(folder, "issuers.json");
      const write = (prefix: string | undefined) =>
        writeFile(
          configFile,
          JSON.stringify({
            kind: "AuthenticationConfiguration",
            apiVersion: "apiserver.config.k8s.io/v1beta1",
            jwt: [
              {
                issuer: { url: issuer.url, certificateAuthority: issuer.authority, audiences: ["binnacle"] },
                claimMappings: { username: { claim: "sub", prefix } },
              },
            ],
          }),
        );
      await write("a:");
      await started("file", { authentication: { bootstrapTokens: false, configFile } }, async ({ url }) => {
        const isNow = (name: string) =>
          eventually(async () => {
            await environment.clock.advance(1000);
            return (await whoami(url, bearer(issuer.token({ jti: `${Math.random()}` })))) === name;
          });
        await isNow("a:alice");
        await write(undefined);
        await eventually(async () => {
          await environment.clock.advance(1000);
          return environment.lines.some(
            ({ text }) => text === "reloading the authentication config failed, keeping the previous one",
          );
        });
        await isNow("a:alice");
        await write("b:");
        await isNow("b:alice");
      });
    });
  });

  it("logs no tokens", async () => {
    const secret = "a-token-that-must-stay-secret";
    const made = makeCertificate({ issuer: makeCa("x"), usages: [OID.clientAuth] });
    await started("log", {}, async ({ url, token }) => {
      await whoami(url, bearer(secret));
      await whoami(url, { cert: made.pem, key: made.keyPem, ...bearer(secret) });
      const text = JSON.stringify(environment.lines);
      assert.match(text, /Unable to authenticate the request/);
      for (const hidden of [secret, token]) assert.ok(!text.includes(hidden));
    });
  });
});
