import t from 'tap'
import { notice, openNotices } from '../../src/notices/index.js'
import { startPosthorn } from '../support/posthorn.js'
import { initSandbox } from '../support/process.js'
import { makeTempDir } from '../support/store.js'
import { runCli } from './run.js'

t.setTimeout(120_000)

t.test('notices are listed, shown and silenced, and their mails and ways told', async (t) => {
  const { dataDir, store } = await startPosthorn(t)
  const cli = (...args: string[]) => runCli(['notice', ...args, '--data', dataDir])
  await store.write((tx) =>
    notice(tx, {
      kind: 'webhook',
      key: 'w1',
      severity: 'burning',
      now: Date.now(),
      text: ['The webhook w1 is off', 'It answered 500'],
      fix: 'posthorn webhook enable w1',
    }),
  )
  const listed = await cli('list')
  t.equal(listed.status, 1, 'something is urgent')
  t.match(listed.stdout, /burning .* 1 +The webhook w1 is off$/m)
  const [open] = await openNotices(store.read)
  const id = String(open?.id)
  const shown = await cli('show', id)
  t.match(
    shown.stdout,
    /It answered 500[\s\S]*webhook \(w1\), burning[\s\S]*posthorn webhook enable w1/,
  )
  t.match((await cli('silence', id, '--days', '7')).stdout, /^\d+ is silent until 20\d\d-/)
  t.match((await cli('silence', id, '--days', '0')).stdout, /^\d+ is mailed again/)
  t.match((await cli('show', '99999')).stderr, /There is no notice 99999/)
  t.match((await cli('kinds')).stdout, /^queue-stuck +mail is due and does not leave$/m)
  t.match(await cli('mails'), { status: 0 })
  const tried = await cli('test')
  t.equal(tried.status, 1)
  t.match(tried.stderr, /There is no way to the operator: set operator\.notify/)
})

t.test('the test mail is followed to its end, and can be shown', async (t) => {
  const env = { POSTHORN_OPERATOR_NOTIFY: 'ops@x.test', POSTHORN_OPERATOR_FROM: 'ph@sender.test' }
  const { dataDir, store } = await startPosthorn(t, { env })
  const cli = (...args: string[]) => runCli([...args, '--data', dataDir], { env })
  const tried = await cli('notice', 'test')
  t.match(tried, { status: 0, stdout: /^queue +ok +delivered: 250 /m })
  const listed = await cli('notice', 'mails')
  t.match(
    listed.stdout,
    / test +sent +queue +\S.*Test, by the queue/m,
    'and kept beside the others',
  )
  const [mail] = await store.read.selectFrom('emails').select('id').execute()
  const shown = await cli('email', 'show', mail?.id ?? '')
  t.match(shown, { status: 0, stdout: /^Account +the appliance itself$/m })
  t.match(shown.stdout, /^Status +delivered$/m)
  t.match(shown.stdout, / delivered +ops@x\.test +250 /)
  const idle = makeTempDir(t)
  initSandbox(idle)
  const nobody = await runCli(['notice', 'test', '--data', idle], {
    env: { ...env, POSTHORN_OPERATOR_FROM: 'ph@example.test' },
  })
  t.match(nobody, { status: 1, stdout: /^queue +failed +queued; no appliance runs here/m })
})
