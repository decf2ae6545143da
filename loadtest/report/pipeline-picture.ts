import { px } from './axis.ts';
import { html } from './html.ts';
import { countText } from './number-text.ts';
import type { Html } from './html.ts';
import type { Account } from '#loadtest/ledger/account.ts';

interface Box {
  readonly name: string;
  readonly counts: readonly string[];
}

interface Arrow {
  readonly text: string;
}

/** The way of the data with the numbers of the account: what each stage took over from the one before. */
function contents({ batches, windows, frames }: Account, vehicles: number, files: number) {
  const boxes: readonly Box[] = [
    {
      name: 'vehicles',
      counts: [`${countText(vehicles)} vehicles`, `${countText(batches.sent)} batches`],
    },
    {
      name: 'device-communication',
      counts: [`${countText(batches.stored)} stored`, `${countText(frames.recorded)} frames`],
    },
    {
      name: 'data-provider',
      counts: [`${countText(windows.closed)} windows`, `${countText(batches.waiting)} waiting`],
    },
    {
      name: 'data-processing',
      counts: [`${countText(windows.processed)} processed`, `${countText(frames.decoded)} decoded`],
    },
    {
      name: 'export',
      counts: [`${countText(windows.exported)} exported`, `${countText(files)} files`],
    },
  ];
  const arrows: readonly Arrow[] = [
    { text: 'HTTP' },
    { text: 'batch.stored' },
    { text: 'window.ready' },
    { text: 'window.processed' },
  ];
  return { boxes, arrows };
}

const BOX_WIDTH = 184;
const BOX_HEIGHT = 74;
const GAP_X = 38;
const GAP_Y = 34;

/** Side by side for a wide screen, and one below the other for a phone; the style sheet shows one. */
export function pipelinePicture(account: Account, vehicles: number, files: number): Html {
  const { boxes, arrows } = contents(account, vehicles, files);
  const label = boxes.map(({ name, counts }) => `${name}: ${counts.join(', ')}`).join('; ');
  const wide = boxes.length * (BOX_WIDTH + GAP_X) - GAP_X + 2;
  const high = boxes.length * (BOX_HEIGHT + GAP_Y) - GAP_Y + 2;
  const across = boxes.map((box, index) => boxAt(box, 1 + index * (BOX_WIDTH + GAP_X), 20));
  const down = boxes.map((box, index) => boxAt(box, 50, 1 + index * (BOX_HEIGHT + GAP_Y)));
  return html`<figure class="picture">
    <svg class="across" viewBox="0 0 ${wide} ${BOX_HEIGHT + 22}" role="img" aria-label="${label}">
      ${across}${arrows.map((arrow, index) => arrowAcross(arrow, index))}
    </svg>
    <svg class="down" viewBox="0 0 ${BOX_WIDTH + 100} ${high}" role="img" aria-label="${label}">
      ${down}${arrows.map((arrow, index) => arrowDown(arrow, index))}
    </svg>
  </figure>`;
}

function boxAt({ name, counts }: Box, x: number, y: number): Html {
  const middle = x + BOX_WIDTH / 2;
  const lines = counts.map(
    (count, index) =>
      html`<text class="count" x="${px(middle)}" y="${y + 42 + index * 18}" text-anchor="middle"
        >${count}</text
      >`,
  );
  return html`<rect
      class="box"
      x="${x}"
      y="${y}"
      width="${BOX_WIDTH}"
      height="${BOX_HEIGHT}"
      rx="6"
    />
    <text class="stage" x="${px(middle)}" y="${y + 21}" text-anchor="middle">${name}</text
    >${lines}`;
}

/** The event's name stands above the arrow, turned towards the box it leads to where it is long. */
function arrowAcross({ text }: Arrow, index: number): Html {
  const from = 1 + index * (BOX_WIDTH + GAP_X) + BOX_WIDTH;
  const y = 20 + BOX_HEIGHT / 2;
  return html`<path class="arrow" d="M${from + 3} ${y}H${from + GAP_X - 4}m-7 -5l7 5l-7 5" />
    <text class="event" x="${from + GAP_X / 2}" y="12" text-anchor="middle">${text}</text>`;
}

function arrowDown({ text }: Arrow, index: number): Html {
  const x = 50 + BOX_WIDTH / 2;
  const y = 1 + index * (BOX_HEIGHT + GAP_Y) + BOX_HEIGHT;
  return html`<path class="arrow" d="M${x} ${y + 3}V${y + GAP_Y - 4}m-5 -7l5 7l5 -7" />
    <text class="event" x="${x + 12}" y="${y + GAP_Y / 2 + 4}">${text}</text>`;
}
