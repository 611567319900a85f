import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ApiError } from "../../../base/api/api-error.ts";
import { testRequest } from "../test-request.suite.ts";
import { negotiateInput, negotiateOutput, type OutputOffer } from "./negotiate.ts";

const OBJECT: OutputOffer = { route: "object", hasTransforms: true, hasTable: true };
const ACCEPTED =
  "only the following media types are accepted: application/json, application/yaml, application/vnd.kubernetes.protobuf";
const ROUTER =
  "406: Not Acceptable\n\nAvailable representations: application/json, application/yaml, application/vnd.kubernetes.protobuf";
const STREAMS = "application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch";

/** The outcome in one line: media type, view and layout, or the error. */
function outcome(accept: string | undefined, offer: OutputOffer = OBJECT): string {
  try {
    const form = negotiateOutput(testRequest(accept === undefined ? {} : { accept }), offer);
    const view = form.transform ? ` ${form.transform.kind}/${form.transform.version}` : "";
    return `${form.mediaType}${view}${form.isPretty ? " pretty" : ""}`;
  } catch (error) {
    assert.ok(error instanceof ApiError);
    assert.equal(error.code, 406);
    return error.message;
  }
}

const meta = (kind: string, version = "v1", group = "meta.k8s.io"): string =>
  `application/json;as=${kind};v=${version};g=${group}`;

describe("negotiateOutput", () => {
  // Most rows are recorded responses of kube-apiserver.
  const cases: readonly (readonly [string | undefined, string])[] = [
    [undefined, "application/json"],
    ["", "application/json"],
    ["*/*", "application/json"],
    ["application/json", "application/json"],
    ["application/json;charset=utf-8", "application/json"],
    ["application/*", ROUTER],
    ["text/plain", ROUTER],
    ["text/html,*/*;q=0.8", "application/json"],
    ["application/xml, application/json;q=0.5", "application/json"],
    ["application/yaml", "application/yaml"],
    ["application/json;q=0.1, application/yaml", "application/yaml"],
    ["*/*, application/yaml", "application/yaml"],
    ["application/vnd.kubernetes.protobuf,application/json", "application/json"],
    ["application/vnd.kubernetes.protobuf", ACCEPTED],
    ["application/json;pretty=1", "application/json pretty"],
    ["application/yaml;pretty=1", "application/yaml"],
    ["application/json;stream=nope", ACCEPTED],
    ["application/json;stream=watch", "application/json"],
    ["application/json;sv=v3", ACCEPTED],
    [meta("Table"), "application/json Table/v1"],
    [meta("Table", "v1beta1"), "application/json Table/v1beta1"],
    [meta("Table", "v2"), ACCEPTED],
    [`${meta("Table", "v2")},application/json`, "application/json"],
    [meta("Table", "v1", "example.com"), ACCEPTED],
    ["application/json;as=Table;g=meta.k8s.io", ACCEPTED],
    [meta("Chair"), ACCEPTED],
    [meta("PartialObjectMetadata"), "application/json PartialObjectMetadata/v1"],
    [`application/vnd.kubernetes.protobuf;as=Table;v=v1;g=meta.k8s.io,${meta("Table")}`, "application/json Table/v1"],
    ["application/yaml;as=Table;v=v1;g=meta.k8s.io", "application/yaml Table/v1"],
  ];
  for (const [accept, expected] of cases) {
    it(`answers ${accept} with ${JSON.stringify(expected)}`, () => assert.equal(outcome(accept), expected));
  }

  describe("with protobuf", () => {
    const PROTOBUF = "application/vnd.kubernetes.protobuf";
    const view = (kind: string, version = "v1"): string => `${PROTOBUF};as=${kind};v=${version};g=meta.k8s.io`;
    const rows: readonly (readonly [string, string, OutputOffer["hasProtobuf"]])[] = [
      [PROTOBUF, PROTOBUF, true],
      [`${PROTOBUF},application/json`, PROTOBUF, true],
      [`application/json, ${PROTOBUF}`, "application/json", true],
      [`*/*;q=0.5, ${PROTOBUF}`, PROTOBUF, true],
      [`${PROTOBUF};stream=watch`, PROTOBUF, true],
      [`${PROTOBUF};pretty=1`, PROTOBUF, true],
      [view("PartialObjectMetadata"), `${PROTOBUF} PartialObjectMetadata/v1`, true],
      [view("PartialObjectMetadataList", "v1beta1"), `${PROTOBUF} PartialObjectMetadataList/v1beta1`, true],
      [view("Table"), ACCEPTED, true],
      [`${view("Table")},application/json`, "application/json", true],
      [PROTOBUF, ACCEPTED, "views"],
      [`${PROTOBUF},application/json`, "application/json", "views"],
      [view("PartialObjectMetadata"), `${PROTOBUF} PartialObjectMetadata/v1`, "views"],
      [view("Table"), ACCEPTED, "views"],
      [view("PartialObjectMetadata"), ACCEPTED, false],
    ];
    for (const [accept, expected, hasProtobuf] of rows) {
      it(`answers ${accept} with ${expected} when it is offered: ${hasProtobuf}`, () =>
        assert.equal(outcome(accept, { ...OBJECT, hasProtobuf }), expected));
    }

    it("may be a stream, unless the objects have no protobuf messages", () => {
      assert.equal(outcome(PROTOBUF, { isWatch: true, hasProtobuf: true }), PROTOBUF);
      assert.equal(outcome(PROTOBUF, { isWatch: true, hasProtobuf: "views" }), ACCEPTED);
    });
  });

  it("lists stream media types if the route has them", () => {
    assert.equal(outcome("text/plain", { ...OBJECT, route: "list" }), `${ROUTER}, ${STREAMS}`);
    assert.equal(
      outcome("application/yaml", { route: "list", isWatch: true }),
      `only the following media types are accepted: ${STREAMS}`,
    );
  });

  it("does not apply go-restful's rules to custom resources", () => {
    assert.equal(outcome("application/*", { hasTransforms: true }), "application/json");
    assert.equal(outcome("text/plain", { hasTransforms: true }), ACCEPTED);
    assert.equal(outcome(meta("Table"), { hasTransforms: true }), ACCEPTED);
  });

  it("the 406 of go-restful has empty details, others have none", () => {
    const detailsOf = (accept: string): unknown => {
      try {
        negotiateOutput(testRequest({ accept }), OBJECT);
      } catch (error) {
        return (error as ApiError).status.details;
      }
      return "accepted";
    };
    assert.deepEqual(detailsOf("text/plain"), {});
    assert.equal(detailsOf(meta("Chair")), undefined);
  });

  it("indents JSON for curl, Wget and browsers", () => {
    const isPretty = (agent: string, query = ""): boolean =>
      negotiateOutput(testRequest({ "user-agent": agent }, query), {}).isPretty;
    for (const agent of ["curl/8.0", "Wget/1.2", "Mozilla/5.0 (X11)"]) assert.ok(isPretty(agent));
    assert.ok(!isPretty("kubectl/v1.37"));
    for (const value of ["1", "t", "T", "TRUE", "true", "True"]) assert.ok(isPretty("x", `pretty=${value}`));
    for (const value of ["0", "false", "yes"]) assert.ok(!isPretty("curl/8.0", `pretty=${value}`));
    assert.ok(isPretty("curl/8.0", "pretty="));
  });
});

describe("negotiateInput", () => {
  const typeOf = (type?: string, acceptsProtobuf = false): string => {
    try {
      return negotiateInput(testRequest(type === undefined ? {} : { "content-type": type }), acceptsProtobuf);
    } catch (error) {
      assert.ok(error instanceof ApiError);
      assert.equal(error.code, 415);
      return error.message;
    }
  };

  it("accepts JSON and YAML in any case and with parameters", () => {
    assert.equal(typeOf(), "application/json");
    assert.equal(typeOf("application/json; charset=utf-8"), "application/json");
    assert.equal(typeOf("APPLICATION/JSON"), "application/json");
    assert.equal(typeOf("application/yaml"), "application/yaml");
  });

  it("accepts protobuf if enabled", () => {
    const type = "application/vnd.kubernetes.protobuf";
    assert.equal(typeOf(`${type}; charset=utf-8`, true), type);
    assert.match(typeOf(type), /^the body of the request was in an unknown format/);
  });

  it("rejects everything else with the message of kube-apiserver", () => {
    const text =
      "the body of the request was in an unknown format - accepted media types include: application/json, application/yaml, application/vnd.kubernetes.protobuf";
    for (const type of ["text/plain", "nonsense", "application/merge-patch+json"]) assert.equal(typeOf(type), text);
  });
});
