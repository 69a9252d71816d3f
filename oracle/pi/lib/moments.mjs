// The moments at which the client is killed: { name, left, steps }. `left` is how the file must end then (tail.mjs).
const run = (act, more = {}) => ({ act, ...more })
/** A run that ends by itself. */
const lives = act => run(act, { lives: true })
const legacy = act => run(act, { engine: 'legacy' })
/** Between two runs: sessfix repairs the session. */
const repaired = { repair: true }
const moment = (name, left, ...steps) => ({ name, left, steps: steps.map(step => typeof step === 'function' ? run(step) : step) })

/** One call runs, and the answer that asks for it is on disk. */
const running = id => async ({ ask, asked, began, waits, written }) => {
  ask(`please do ${id}`)
  ;(await asked()).text(`I do ${id}.`).call(id, waits(id)).end()
  await began(id)
  await written.call(id)
}

/** Its call has ended, and the next request, with the result in it, waits for an answer. */
const answered = id => async (sight) => {
  await running(id)(sight)
  sight.letGo(id)
  const next = await sight.asked()
  await sight.written.result(id)
  return next
}

const threeAtOnce = async ({ ask, asked, began, waits, written }) => {
  ask('please do three things')
  ;(await asked()).text('three at once').call('a', waits('a')).call('b', waits('b')).call('c', waits('c')).end()
  for (const id of ['a', 'b', 'c']) await began(id)
  await written.call('c')
}

const streams = words => async ({ ask, asked, printed, written }) => {
  ask(`a task before ${words}`)
  ;(await asked()).text(words)
  await printed(words)
  await written.prompt(`a task before ${words}`)
}

const talked = ({ chat }) => chat('an earlier task', 'an earlier answer')
const bashRecord = ({ written }) => written.record('message')

export const moments = [
  moment('the first request waits for an answer', 'prompt', async ({ ask, asked, written }) => {
    ask('a first task')
    await asked()
    await written.prompt('a first task')
  }),
  moment('half a text is streamed', 'prompt', streams('half a sentence')),
  moment('half a call is streamed', 'prompt', async ({ ask, asked, printed }) => {
    ask('a first task')
    ;(await asked()).text('a step').halfCall('a')
    await printed('toolcall_start')
  }),
  moment('an answer is written', 'text', async ({ ask, asked, written }) => {
    ask('a first task')
    ;(await asked()).text('all done').end()
    await written.text('all done')
  }),
  moment('the service says no', /prompt|text/, async ({ ask, asked, printed }) => {
    ask('a first task')
    ;(await asked()).fail()
    await printed('"stopReason":"error"')
  }),
  moment('the connection breaks in a text', /prompt|text/, async ({ ask, asked, printed }) => {
    ask('a first task')
    const answer = (await asked()).text('half a text')
    await printed('half a text')
    answer.cut()
    await printed('"stopReason":"error"')
  }),

  moment('a call runs', 'open a, call', running('a')),
  moment('a call has ended this moment', /^(open a, call|result)$/, async (sight) => {
    await running('a')(sight)
    sight.letGo('a')
    await sight.ended('a')
  }),
  moment('a result waits for the next answer', 'result', async (sight) => { await answered('a')(sight) }),
  moment('half a text after a result', 'result', async (sight) => {
    ;(await answered('a')(sight)).text('it says')
    await sight.printed('it says')
  }),
  moment('a second call runs', 'open b, call', async (sight) => {
    ;(await answered('a')(sight)).call('b', sight.waits('b')).end()
    await sight.began('b')
    await sight.written.call('b')
  }),
  moment('an answer is cut off at its greatest length', /^(open a, call|result)$/, async ({ ask, asked, quick, written }) => {
    ask('a long task')
    ;(await asked()).call('a', quick('a')).end('length')
    await written.call('a')
  }),

  moment('three calls run', 'open a b c, call', threeAtOnce),
  moment('one of three has ended', 'open a b c, call', async (sight) => {
    await threeAtOnce(sight)
    sight.letGo('a')
    await sight.ended('a')
  }),
  moment('the last of three has ended', 'open a b c, call', async (sight) => {
    await threeAtOnce(sight)
    sight.letGo('c')
    await sight.ended('c')
  }),
  moment('three results wait for the next answer', 'result', async (sight) => {
    await threeAtOnce(sight)
    for (const id of ['c', 'a', 'b']) sight.letGo(id)
    await sight.asked()
    await sight.written.result('c')
  }),

  moment('a person steps in while a call runs', 'open a, call', async (sight) => {
    await running('a')(sight)
    sight.tell('steer', { message: 'stop that' })
    await sight.printed('stop that')
  }),
  moment('a person aborts a call', /result|text/, async (sight) => {
    await running('a')(sight)
    sight.tell('abort')
    await sight.written.result('a')
  }),
  moment('a command of a person', /text|prompt/, lives(talked), async (sight) => {
    sight.tell('bash', { command: 'echo by hand' })
    await sight.printed('by hand')
    await bashRecord(sight)
  }),

  moment('a resumed session waits for an answer', 'prompt', lives(talked), async ({ ask, asked, written }) => {
    ask('go on')
    await asked()
    await written.prompt('go on')
  }),
  moment('killed twice, each time while a text streams', 'prompt', streams('half a sentence'), streams('half of another')),
  moment('killed twice, each time while a call runs', 'open a b, call', running('a'), running('b')),
  moment('killed while a call runs, then while a text streams', 'open a, prompt', running('a'), streams('half a sentence')),
  moment('killed, repaired, resumed and killed', 'open b, call', running('a'), repaired, running('b')),
  moment('killed among three, repaired, resumed and killed at a result', 'result', threeAtOnce, repaired, async (sight) => { await answered('d')(sight) }),
  moment('killed, repaired, killed, repaired, killed', 'open c, call', running('a'), repaired, running('b'), repaired, running('c')),

  moment('a compaction is asked for', 'text', lives(talked), async ({ chat, tell, asked }) => {
    await chat('a second task', 'a second answer')
    tell('compact')
    await asked()
  }),
  moment('a compaction is written', /prompt/, lives(talked), async (sight) => { await compact(sight) }),
  moment('a call runs behind a compaction', 'open a, call', lives(talked), async (sight) => {
    await compact(sight)
    await running('a')(sight)
  }),

  moment('the disk is full in a prompt', /torn/, lives(talked), run(async ({ ask, over, printed }) => {
    ask(`a long task ${'and on '.repeat(3000)}`)
    await Promise.race([over(), printed('EFBIG'), printed('"success":false')])
  }, { room: 9000 })),

  moment('0.73.1: a text streams', 'no file', legacy(async ({ ask, asked, printed }) => {
    ask('a first task')
    ;(await asked()).text('half a sentence')
    await printed('half a sentence')
  })),
  moment('0.73.1: a call runs', 'open a, call', legacy(running('a'))),
  moment('0.73.1: one of three has ended', 'open a b c, call', legacy(async (sight) => {
    await threeAtOnce(sight)
    sight.letGo('b')
    await sight.ended('b')
  })),
  moment('0.73.1 was killed, repaired, 1.6.0 is killed', 'open b, call', legacy(running('a')), repaired, running('b')),
]

async function compact({ answerAll, chat, tell, written }) {
  await chat('a second task', 'a second answer')
  tell('compact')
  await answerAll('what was said so far', written.record('compaction'))
}
