import { expect, test } from 'vitest';
import { Html, html } from './html.ts';

test('html with hostile text: escaped, in attributes too', () => {
  const hostile = `"><script>alert('x')</script>&`;
  expect(html`<p title="${hostile}">${hostile}</p>`.text).toBe(
    '<p title="&quot;&gt;&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;&amp;">' +
      '&quot;&gt;&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;&amp;</p>',
  );
});

test('html with html inside, a list, a number and nothing: put in once, in order', () => {
  const items = ['a', 'b'].map((name) => html`<li>${name}</li>`);
  expect(html`<b>${items}</b>`.text).toBe('<b><li>a</li><li>b</li></b>');
  expect(html`<b>${3}</b>`.text).toBe('<b>3</b>');
  expect(html`<b>${null}</b>`.text).toBe('<b></b>');
  expect(html`<b>${new Html('<br>')}</b>`.text).toBe('<b><br></b>');
});
