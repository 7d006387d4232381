import t from 'tap'
import { contentStart } from '../../src/mime/index.js'

t.test(
  'the content of a document begins behind its body tag, or what comes before one',
  async (t) => {
    const cases = [
      '<html><body class="a>b">|x',
      '<!doctype html><html><head><title><body></title></head>|x',
      '<!doctype html>|<p>x',
      '<html>|x',
      '|x',
      '<!--[if mso]><body class="mso"><![endif]--><body>|x',
      '<head><style>body{}</style></head><body>|x<body>',
      '|',
    ]
    for (const one of cases) t.equal(contentStart(one.replace('|', '')), one.indexOf('|'), one)
  },
)
