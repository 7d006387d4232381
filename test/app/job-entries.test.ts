import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import t from 'tap'
import { controlSocket } from '../../src/app/files.js'
import { jobCatalogue, jobNames, readSchedule } from '../../src/config/index.js'
import { startPosthorn } from '../support/posthorn.js'

t.setTimeout(180_000)

t.test('each job of the catalogue runs in an appliance and says what it did', async (t) => {
  const { dataDir } = await startPosthorn(t)
  for (const name of jobNames) {
    const socket = connect(controlSocket(dataDir))
    socket.write(`${JSON.stringify({ runJob: name, wait: true })}\n`)
    const { job } = JSON.parse(await text(socket))
    // No backup.dir is set here.
    const result = name === 'backup' || name === 'backup-check' ? 'not set up' : 'done'
    t.match(job, { kind: 'ended', run: { name, result, error: null } }, name)
    t.match(job.run?.summary, /^\S+ .*\S$/, `${name}: ${job.run?.summary}`)
  }
})

t.test('the report of the week is asked for before the mail of that day', (t) => {
  const { 'weekly-report': report, 'operator-mail': mail } = jobCatalogue
  const reportAt = readSchedule(report.cron, 'UTC').next(Date.parse('2026-11-21T00:00:00Z'))
  const mailAt = readSchedule(mail.cron, 'UTC').next(reportAt)
  t.ok(mailAt - reportAt >= report.limitMs, 'even when it takes as long as it may')
  t.ok(mailAt - reportAt < 3_600_000)
  t.end()
})
