import assert from "node:assert/strict";
import { test } from "node:test";
import { readAuthenticationConfiguration } from "./configuration.ts";
import { claimMapping } from "./map-claims.ts";
import { validateConfiguration } from "./validate-configuration.ts";

const HEAD = "apiVersion: apiserver.config.k8s.io/v1\nkind: AuthenticationConfiguration\n";
const GOOD = `${HEAD}jwt:
- issuer:
    url: https://x.example
    audiences: [a]
  claimMappings:
    username: {claim: sub, prefix: ""}
`;

const check = (text: string): void =>
  validateConfiguration(readAuthenticationConfiguration(text), {
    disallowedIssuers: ["https://kubernetes.default.svc"],
  });

test("reads an AuthenticationConfiguration in all versions, as YAML or JSON", () => {
  for (const version of ["v1", "v1beta1", "v1alpha1"]) check(GOOD.replace("/v1", `/${version}`));
  const anonymous = `{"kind":"AuthenticationConfiguration","apiVersion":"apiserver.config.k8s.io/v1","anonymous":{"enabled":true,"conditions":[{"path":"/livez"}]}}`;
  assert.deepEqual(readAuthenticationConfiguration(anonymous), {
    jwt: [],
    anonymous: { enabled: true, conditions: [{ path: "/livez" }] },
  });
});

// Compat: the errors of kube-apiserver 1.37.1 at startup for these files (`loadAuthenticationConfig`).
const REFUSED: readonly (readonly [file: string, text: string])[] = [
  ["", "empty config data"],
  ["a: b: c", "yaml: mapping values are not allowed in this context"],
  ["null\n", "Object 'Kind' is missing in 'null\n'"],
  [
    "apiVersion: apiserver.config.k8s.io/v1\n",
    "Object 'Kind' is missing in 'apiVersion: apiserver.config.k8s.io/v1\n'",
  ],
  ["kind: AuthenticationConfiguration\n", "Object 'apiVersion' is missing in 'kind: AuthenticationConfiguration\n'"],
  [
    HEAD.replace("/v1", "/v2"),
    'no kind "AuthenticationConfiguration" is registered for version "apiserver.config.k8s.io/v2" in scheme "pkg/runtime/scheme.go:111"',
  ],
  [
    HEAD.replace("AuthenticationConfiguration", "Foo"),
    'no kind "Foo" is registered for version "apiserver.config.k8s.io/v1" in scheme "pkg/runtime/scheme.go:111"',
  ],
  [
    "[]",
    'couldn\'t get version/kind; json parse error: json: cannot unmarshal array into Go value of type struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }',
  ],
  [
    `${GOOD}    foo: 1\n  bar: 2\nbaz: 3\n`,
    'strict decoding error: unknown field "baz", unknown field "jwt[0].bar", unknown field "jwt[0].claimMappings.foo"',
  ],
  [
    `${HEAD}jwt: {}\n`,
    "json: cannot unmarshal object into Go struct field AuthenticationConfiguration.jwt of type []v1.JWTAuthenticator",
  ],
  [
    `${HEAD}jwt:\n- issuer: {url: 5, audiences: [a]}\n`,
    "json: cannot unmarshal number into Go struct field Issuer.jwt.issuer.url of type string",
  ],
  [
    `${HEAD}anonymous: {enabled: "yes"}\n`,
    "json: cannot unmarshal string into Go struct field AnonymousAuthConfig.anonymous.enabled of type bool",
  ],
  [
    `${HEAD}jwt:\n- {}\n`,
    "invalid authentication configuration: [jwt[0].issuer.url: Required value, jwt[0].issuer.audiences: Required value: at least one jwt[0].issuer.audiences is required, jwt[0].claimMappings.username: Required value: claim or expression is required]",
  ],
  [
    `${HEAD}anonymous: {enabled: false, conditions: [{path: /livez}]}\n`,
    'invalid authentication configuration: anonymous.conditions: Invalid value: [{"Path":"/livez"}]: enabled should be set to true when conditions are defined',
  ],
  [
    GOOD + GOOD.slice(HEAD.length + "jwt:\n".length),
    'invalid authentication configuration: jwt[1].issuer.url: Duplicate value: "https://x.example"',
  ],
  [
    GOOD.replace("[a]", "[a]\n    audienceMatchPolicy: Foo"),
    'invalid authentication configuration: jwt[0].issuer.audienceMatchPolicy: Invalid value: "Foo": audienceMatchPolicy must be empty or MatchAny for single audience',
  ],
];

test("rejects invalid configurations with kube-apiserver's messages", () => {
  for (const [file, text] of REFUSED) assert.throws(() => check(file), { message: text }, file);
});

test("reports all errors of an issuer at once", () => {
  const file = `${HEAD}jwt:
- issuer:
    url: http://u:p@x.example/?a=b#c
    audiences: [a, a, ""]
    discoveryURL: http://u:p@x.example/?a=b#c
    certificateAuthority: zzz
    egressSelectorType: foo
  claimMappings:
    username: {claim: sub}
    groups: {claim: g}
    uid: {claim: a, expression: b}
    extra: [{key: Foo}, {key: kubernetes.io/x, valueExpression: "claims.x"}]
  claimValidationRules: [{}, {claim: a, message: b}, {claim: a}, {claim: b, expression: c}]
  userValidationRules: [{}]
`;
  const url = '"http://u:p@x.example/?a=b#c"';
  const urls = ["url", "discoveryURL"].map((field) =>
    [
      ...(field === "url" ? [] : ["discoveryURL must be different from URL"]),
      "URL scheme must be https",
      "URL must not contain a username or password",
      "URL must not contain a query",
      "URL must not contain a fragment",
    ].map((reason) => `jwt[0].issuer.${field}: Invalid value: ${url}: ${reason}`),
  );
  const prefix =
    "Required value: prefix is required when claim is set. It can be set to an empty string to disable prefixing";
  const texts = [
    ...urls.flat(),
    'jwt[0].issuer.audiences[1]: Duplicate value: "a"',
    "jwt[0].issuer.audiences[2]: Required value",
    'jwt[0].issuer.audienceMatchPolicy: Invalid value: "": audienceMatchPolicy must be MatchAny for multiple audiences',
    'jwt[0].issuer.certificateAuthority: Invalid value: "<omitted>": data does not contain any valid RSA or ECDSA certificates',
    'jwt[0].issuer.egressSelectorType: Invalid value: "foo": egress selector must be either controlplane or cluster',
    "jwt[0].claimValidationRules[0]: Required value: claim or expression is required",
    'jwt[0].claimValidationRules[1].message: Invalid value: "b": may not be specified when claim is set',
    'jwt[0].claimValidationRules[2].claim: Duplicate value: "a"',
    `jwt[0].claimValidationRules[3]: Invalid value: "b": claim and expression can't both be set`,
    `jwt[0].claimMappings.username.prefix: ${prefix}`,
    `jwt[0].claimMappings.groups.prefix: ${prefix}`,
    `jwt[0].claimMappings.uid: Invalid value: "": claim and expression can't both be set`,
    'jwt[0].claimMappings.extra[0].key: Invalid value: "Foo": must be a domain-prefixed path (such as "acme.io/foo")',
    'jwt[0].claimMappings.extra[0].key: Invalid value: "Foo": must be lowercase',
    "jwt[0].claimMappings.extra[0].valueExpression: Required value",
    'jwt[0].claimMappings.extra[1].key: Invalid value: "kubernetes.io/x": k8s.io, kubernetes.io and their subdomains are reserved for Kubernetes use',
    "jwt[0].userValidationRules[0].expression: Required value",
  ];
  assert.throws(() => check(file), { message: `invalid authentication configuration: [${texts.join(", ")}]` });
});

// Compat: the errors of kube-apiserver 1.37.1 at startup for these expressions (`ValidateAuthenticationConfiguration`).
const WRONG: readonly (readonly [mapping: string, text: string])[] = [
  [
    "username: {expression: 'claims.'}",
    "claimMappings.username.expression: Invalid value: \"claims.\": compilation failed: ERROR: <input>:1:8: Syntax error: no viable alternative at input '.'\n | claims.\n | .......^",
  ],
  [
    "username: {expression: 'user.username'}",
    "claimMappings.username.expression: Invalid value: \"user.username\": compilation failed: ERROR: <input>:1:1: undeclared reference to 'user' (in container '')\n | user.username\n | ^",
  ],
  [
    "username: {expression: 'claims.email'}",
    'claimMappings.username.expression: Invalid value: "claims.email": claims.email_verified must be used in claimMappings.username.expression or claimMappings.extra[*].valueExpression or claimValidationRules[*].expression when claims.email is used in claimMappings.username.expression',
  ],
  [
    "username: {expression: 'claims.sub'}\n  claimValidationRules: [{expression: 'claims.sub'}]",
    'claimValidationRules[0].expression: Invalid value: "claims.sub": must evaluate to bool',
  ],
  [
    "username: {expression: 'claims.sub'}\n  userValidationRules: [{expression: 'user.name == 1'}]",
    "userValidationRules[0].expression: Invalid value: \"user.name == 1\": compilation failed: ERROR: <input>:1:5: undefined field 'name'\n | user.name == 1\n | ....^",
  ],
];

test("rejects invalid expressions at startup with kube-apiserver's messages", () => {
  for (const [mapping, text] of WRONG) {
    const file = GOOD.replace('username: {claim: sub, prefix: ""}', mapping);
    assert.throws(() => check(file), { message: `invalid authentication configuration: jwt[0].${text}` });
  }
});

test("maps claims to a user by expressions, and validates both", () => {
  const file = GOOD.replace(
    'username: {claim: sub, prefix: ""}',
    `username: {expression: "'oidc:' + claims.sub"}
    groups: {expression: "claims.roles.map(r, 'role-' + r) + ['']"}
    uid: {expression: 'string(claims.id)'}
    extra:
    - {key: example.com/zone, valueExpression: 'claims.?place.zone.orValue(null)'}
    - {key: example.com/dotted, valueExpression: 'claims.place.a__dot__b'}
  claimValidationRules: [{expression: 'claims.id > 1.0', message: too small}]
  userValidationRules: [{expression: "!user.username.startsWith('oidc:system')", message: reserved}]`,
  );
  check(file);
  const [given] = readAuthenticationConfiguration(file).jwt;
  assert.ok(given);
  const map = claimMapping(given);
  const claims = { sub: "jane", roles: ["a", "b"], id: 7, place: { zone: "z1", "a.b": ["x", ""] } };
  assert.deepEqual(map(claims), {
    name: "oidc:jane",
    uid: "7",
    groups: ["role-a", "role-b"],
    extra: { "example.com/zone": ["z1"], "example.com/dotted": ["x"] },
  });
  const refused: readonly (readonly [object, string])[] = [
    [{ id: 1 }, "claim validation expression: validation expression 'claims.id > 1.0' failed: too small"],
    [
      { sub: "system:admin" },
      "user info validation rule: validation expression '!user.username.startsWith('oidc:system')' failed: reserved",
    ],
    [{ sub: 1 }, "username claim expression: expression ''oidc:' + claims.sub' resulted in error: no such overload"],
    [
      { roles: [1] },
      "group claim expression: expression 'claims.roles.map(r, 'role-' + r) + ['']' resulted in error: no such overload",
    ],
  ];
  for (const [change, text] of refused) {
    assert.throws(() => map({ ...claims, ...change }), { message: `oidc: error evaluating ${text}` });
  }
});
