// Issue 47: what came of a step in the words of people, and names that stand apart in sentences.
import t from 'tap'
import {
  endWords,
  resultWords,
  unmadeWords,
} from '../../../src/dashboard/automations/result-words.js'
import { resumedWords } from '../../../src/dashboard/automations/resume.js'
import { inQuotes, sentence, setApart } from '../../../src/dashboard/shell/names.js'

t.test('what was passed over says why', async (t) => {
  t.equal(
    resultWords('skipped:overdue', 'line'),
    'Passed over: its time came while the automation was paused',
  )
  t.equal(resultWords('skipped:left_topic', 'one'), 'it is passed over (they have left its topic)')
  t.equal(resultWords('branch:a', 'some'), 'go the way “a”')
  t.equal(
    resultWords('blocked:quota', 'line'),
    'Could not go on: the mails of your plan are used up',
  )
  t.equal(resultWords('ended:unsubscribed', 'line'), 'Left: they unsubscribed')
  t.equal(resultWords('ended:exit_step', 'one'), 'a step ends it')
  t.equal(resultWords('ended:bought', 'line'), 'Ended by a step: bought')
  t.equal(resultWords('ended:constructor', 'line'), 'Ended by a step: constructor')
  t.equal(endWords('exited', 'goal', 'line'), 'Ended: they reached the goal')
  t.equal(endWords('failed', 'No such pixel', 'line'), 'Failed: No such pixel')
  const needs = 'the template of its mail needs “code”, and the step has nothing for it'
  t.equal(endWords('failed', 'render: code is missing', 'line'), `Failed: ${needs}`)
  t.equal(unmadeWords('the variable "code" is missing'), needs)
  t.equal(endWords('exited', 'stock is missing', 'line'), 'Ended by a step: stock is missing')
  t.equal(
    endWords('failed', 'render: the subject is longer than 998 bytes', 'line'),
    'Failed: its mail could not be made: the subject is longer than 998 bytes',
  )
  t.equal(
    resultWords('released:skip', 'line'),
    'Goes on after it was held: at once, without its mail',
  )
  t.equal(resultWords('moved:v2', 'line'), 'Moved to version 2')
})

t.test('each name in a sentence has a direction of its own', async (t) => {
  t.equal(
    String(sentence('“مرحبا” 3 days, then “B”')),
    '“<bdi>مرحبا</bdi>” 3 days, then “<bdi>B</bdi>”',
  )
  t.equal(String(sentence('a <b> & “<i>”')), 'a &lt;b&gt; &amp; “<bdi>&lt;i&gt;</bdi>”')
  t.equal(String(sentence('no name, one ” alone')), 'no name, one ” alone')
  t.equal(String(sentence(`joins ${setApart('قراء')}, and 3`)), 'joins <bdi>قراء</bdi>, and 3')
  t.equal(setApart('Readers'), 'Readers')
  t.equal(inQuotes('Send “Hello” from Shop'), '“Send ‘Hello’ from Shop”')
})

t.test('after a pause it is told who goes on now, and who waits on', async (t) => {
  const after = (how: string, released: number, held: number) =>
    resumedWords({ released, held }, how)
  t.equal(after('shift', 4, 0), 'It goes on: 4 people wait on')
  t.equal(after('shift', 4, 3), 'It goes on: 4 people wait on', 'every wait ends later')
  t.equal(after('now', 4, 1), 'It goes on: 1 person goes on now, 3 people wait on')
  t.equal(after('skip', 10, 10), 'It goes on: 10 people go on now')
  t.equal(after('now', 0, 0), 'It goes on: nobody is in it')
})
