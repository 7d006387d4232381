import t from 'tap'
import { chart } from '../../../src/dashboard/shell/chart.js'

const labels = ['1 Nov', '2 Nov', '3 Nov', '4 Nov']

t.test('a chart has a drawing that fits, and its figures as a table', async (t) => {
  const { text } = chart({
    title: 'Sent & <bounced>',
    labels,
    series: [
      { label: 'Sent', tone: 'c1', values: [0, 1200, 40, 7] },
      { label: 'Bounced', tone: 'c3', values: [0, 3, 0, 0] },
    ],
    limit: { label: 'Limit', value: 2000 },
  })
  t.match(text, 'Sent &amp; &lt;bounced&gt;')
  t.match(text, '<title>2 Nov: 1,200 sent, 3 bounced</title>')
  t.match(text, '<td class="number">1,200</td><td class="number">3</td>')
  const heights = [...text.matchAll(/ y[12]?="([-\d.]+)"/g)].map(([, y]) => Number(y))
  t.ok(
    heights.every((y) => y >= 0 && y <= 200),
    `${heights} are within the drawing`,
  )
  t.notMatch(text, 'style=', 'the policy of pages lets no style in')
  t.notMatch(text, 'NaN')
})

t.test('a chart of nothing is drawn too', async (t) => {
  for (const kind of ['lines', 'bars'] as const) {
    for (const some of [labels, labels.slice(0, 1), []]) {
      const series = [{ label: 'Sent', tone: 'c1' as const, values: some.map(() => 0) }]
      const { text } = chart({ title: 'Nothing', labels: some, series, kind })
      t.notMatch(text, /NaN|undefined|Infinity/)
    }
  }
})

t.test('bars stand on each other', async (t) => {
  const { text } = chart({
    title: 'Queue',
    labels: ['now'],
    kind: 'bars',
    series: [
      { label: 'Ready', tone: 'c1', values: [60] },
      { label: 'Held', tone: 'c3', values: [40] },
    ],
  })
  const rects = [...text.matchAll(/class="bar" .*?y="([\d.]+)".*?height="([\d.]+)"/g)]
  t.same(
    rects.map(([, y, height]) => [Number(y), Number(height)]),
    [
      [80, 120],
      [0, 80],
    ],
  )
})
