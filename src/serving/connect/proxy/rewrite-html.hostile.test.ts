import { test } from "node:test";
import { StepCounter } from "../../../../test/support/steps.ts";
import { HtmlRewriter } from "./rewrite-html.ts";
import { rewriteUrl } from "./rewrite-url.ts";

const counter = new StepCounter();
const base = { prefix: "/p", backendHost: "10.0.0.1:80", requestHost: "kube.example:6443" };

for (const hostile of ["<a ", "<", "<a href='", "</", "<!--", "<script>", "<a =".repeat(2), '<a b= "'] as const) {
  test(`reads a long page of ${hostile} once`, () => {
    counter.assertLinear((size) => {
      const rewriter = new HtmlRewriter((url) => rewriteUrl(url, base));
      const page = hostile.repeat(Math.ceil(size / hostile.length));
      for (let at = 0; at < page.length; at += 16_384) rewriter.push(page.slice(at, at + 16_384));
      rewriter.end();
    }, 100_000);
  });
}
