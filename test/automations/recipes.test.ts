import t from 'tap'
import { definitionIn } from '../../src/automations/definition/index.js'
import { recipes } from '../../src/automations/recipes/index.js'

t.test('each recipe is valid as it stands, and sends what it brings', async (t) => {
  for (const { name, mails, definition } of recipes) {
    const given = { from: 'Shop <news@shop.test>', segmentId: crypto.randomUUID() }
    const { steps } = definitionIn(definition(given))
    const sent = steps.flatMap((step) => (step.type === 'send_email' ? [step.config.template] : []))
    t.same(new Set(sent), new Set(mails.map(({ slug }) => slug)), name)
    const listed = definition({ ...given, listId: 'the-list' })
    t.doesNotThrow(() => definitionIn(listed), `${name} of a list`)
  }
})
