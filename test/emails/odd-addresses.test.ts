import t from 'tap'
import { loadConfig } from '../../src/config/index.js'
import { acceptBatch, acceptEmail, type EmailDeps } from '../../src/emails/index.js'
import { silentLog } from '../../src/log/index.js'
import { attachmentRules } from '../support/attachment-rules.js'
import { openCampaigns, plans } from '../support/campaigns.js'

const mail = { from: 'News <news@sender.test>', subject: 'Hi', html: '<p>x</p>' }

t.test(
  'what RFC 5321 forbids and its servers take goes out in quotes, with a warning in the log',
  async (t) => {
    const rig = await openCampaigns(t)
    const { retry, maxQueued } = loadConfig({ env: {} }).outbound
    const records: object[] = []
    const log = { ...silentLog, info: (fields: object) => void records.push(fields) }
    const deps: EmailDeps = {
      attachments: attachmentRules,
      clock: rig.clock,
      store: rig.store,
      log,
      renderer: rig.renderer,
      plans,
      backlog: rig.backlog,
      defaultCountry: 'NG',
      retry,
      maxQueued,
      surges: { minimum: 0, times: 10 },
      ring: () => {},
    }
    const to = ['a..b@docomo.ne.jp', 'c@d_e.test', 'f@g.test']
    await acceptEmail(deps, rig.accountId, { ...mail, to })
    await acceptBatch(deps, rig.accountId, { items: [{ ...mail, to }] })
    await acceptEmail(deps, rig.accountId, { ...mail, to: 'f@g.test' })
    const warnings = [/§4\.1\.2/, /§2\.3\.5/]
    t.match(records, [{ warnings }, { warnings }, {}])
    t.notOk('warnings' in (records[2] ?? {}))
    t.notMatch(JSON.stringify(records), /docomo|d_e/)
    const rows = await rig.store.read.selectFrom('queue').select('recipient').execute()
    const recipients = new Set(rows.map(({ recipient }) => recipient))
    t.same(recipients, new Set(['"a..b"@docomo.ne.jp', 'c@d_e.test', 'f@g.test']))
  },
)
