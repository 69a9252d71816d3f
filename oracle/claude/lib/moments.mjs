// The moments at which the client is killed: { name, left, steps }. `left` is what is then on disk, in the words of crash.mjs,
// so that a case that misses its moment is found out.

/** A run of the client that is killed when `act` returns. */
const killed = (act, prompt = 'the task') => ({ act, prompt })
/** A run of the client that ends by itself. */
const lives = (act, prompt = 'an earlier task') => ({ act, prompt, lives: true })
/** Between two runs: sessfix repairs the session. */
const repaired = { repair: true }

const moment = (name, left, ...steps) => ({ name, left, steps: steps.map(step => typeof step === 'function' ? killed(step) : step) })

const READER = { kind: 'reader' }

const says = words => async ({ asked }) => (await asked()).text(words).end()

/** One call runs, and all of the answer that asks for it is on disk. */
const running = id => async ({ asked, began, written }) => {
  ;(await asked()).text(`first ${id}`).shell(id).end()
  await began(id)
  await written.call(id)
}

/** Its call has ended, and the next request, with the result in it, waits for an answer. */
const answered = (id, by) => async ({ asked, began, letGo, written }) => {
  ;(await asked(by)).text(`first ${id}`).shell(id).end()
  await began(id)
  letGo(id)
  const next = await asked(by)
  await written.result(id)
  return next
}

/** A call runs, and the answer that asks for it goes on. */
const unwritten = id => async ({ asked, began, opened }) => {
  ;(await asked()).text(`first ${id}`).shell(id)
  await began(id)
  await opened()
}

const threeAtOnce = async ({ asked, began, written }) => {
  ;(await asked()).text('three at once').shell('a', READER).shell('b', READER).shell('c', READER).end()
  for (const id of ['a', 'b', 'c']) await began(id)
  await written.call('c')
}

/** A sub-agent was asked for, its own first request waits, and the call that asks for it is on disk. */
const delegated = async ({ asked, written }, words = 'the job') => {
  ;(await asked()).text('a helper').agent('s', words).end()
  const answer = await asked('agent', words)
  await written.call('s')
  return answer
}

export const moments = [
  // The session's first answer.
  moment('the start: the transcript is there', 'prompt', ({ opened }) => opened()),
  moment('the first request waits for an answer', 'prompt', async ({ asked, opened }) => {
    await asked()
    await opened()
  }),
  moment('half a text is streamed', 'prompt', async ({ asked, opened, printed }) => {
    ;(await asked()).halfText('half a sentence')
    await printed('half a sentence')
    await opened()
  }),
  moment('the first block is whole, the second is not', 'prompt', async ({ asked, opened, printed }) => {
    ;(await asked()).text('a whole block').halfText('half a block')
    await printed('half a block')
    await opened()
  }),
  moment('a text is whole, its message is not', 'prompt', async ({ asked, opened, printed }) => {
    ;(await asked()).text('all said').almost()
    await printed('message_delta')
    await opened()
  }),
  moment('an answer is written', 'text', async ({ asked, written }) => {
    ;(await asked()).text('all done').end()
    await written.text('all done')
  }),
  moment('the service is overloaded, the client asks again', 'prompt', async ({ asked, opened }) => {
    ;(await asked()).overloaded()
    await asked()
    await opened()
  }),

  // A call.
  moment('half a call is streamed', 'prompt', async ({ asked, opened, printed }) => {
    ;(await asked()).text('a step').halfShell('a')
    await printed('input_json_delta')
    await opened()
  }),
  moment('a call runs while its answer streams', 'prompt; a unwritten', unwritten('a')),
  moment('a call has ended while its answer streams', 'prompt; a unwritten', async ({ asked, began, ended, letGo, opened, printed }) => {
    const answer = (await asked()).text('a step').shell('a')
    await began('a')
    letGo('a')
    await ended('a')
    answer.halfText('and then')
    await printed('and then')
    await opened()
  }),
  moment('two calls run while a third streams', 'prompt; a b unwritten', async ({ asked, began, opened }) => {
    ;(await asked()).shell('a', READER).shell('b', READER).halfShell('c')
    await began('a')
    await began('b')
    await opened()
  }),
  moment('a call runs', 'open a, call', running('a')),
  moment('a call has ended this moment', /^(open a, call|result)$/, async (sight) => {
    await running('a')(sight)
    sight.letGo('a')
    await sight.ended('a')
  }),
  moment('a result waits for the next answer', 'result', async (sight) => { await answered('a')(sight) }),
  moment('a long result waits for the next answer', 'result', async ({ asked, written }) => {
    ;(await asked()).shell('a', { kind: 'printer', script: 'seq 1 20000' }).end()
    await asked()
    await written.result('a')
  }),
  moment('a command is in the background, its result waits', 'result', async ({ asked, began, written }) => {
    ;(await asked()).shell('a', { run_in_background: true }).end()
    await asked()
    await began('a')
    await written.result('a')
  }),
  moment('the connection breaks while a call runs', 'open a, call', async ({ asked, began, written }) => {
    const answer = (await asked()).text('a step').shell('a')
    await began('a')
    answer.cut()
    await written.call('a')
  }),

  // A call after a call.
  moment('half a text after a result', 'result', async (sight) => {
    ;(await answered('a')(sight)).halfText('it says')
    await sight.printed('it says')
  }),
  moment('a second call runs while its answer streams', 'result; b unwritten', async (sight) => {
    ;(await answered('a')(sight)).text('the next').shell('b')
    await sight.began('b')
  }),
  moment('a second call runs', 'open b, call', async (sight) => {
    ;(await answered('a')(sight)).shell('b').end()
    await sight.began('b')
    await sight.written.call('b')
  }),

  // Three at once.
  moment('three calls run', 'open a b c, call', threeAtOnce),
  moment('the first of three commands that wait for each other is done', 'open b c, result', async ({ asked, began, letGo, written }) => {
    ;(await asked()).shell('a').shell('b').shell('c').end()
    await began('a')
    letGo('a')
    await began('b')
    await written.result('a')
  }),
  moment('one of three results is written', 'open a c, result', async (sight) => {
    await threeAtOnce(sight)
    sight.letGo('b')
    await sight.written.result('b')
  }),
  moment('three results wait for the next answer', 'result', async (sight) => {
    await threeAtOnce(sight)
    for (const id of ['c', 'a', 'b']) sight.letGo(id)
    await sight.asked()
    for (const id of ['a', 'b', 'c']) await sight.written.result(id)
  }),

  // A sub-agent.
  moment('a sub-agent waits for its first answer', 'open s, call; agent: prompt', async (sight) => { await delegated(sight) }),
  moment('a sub-agent starts while the answer that wants it streams', 'prompt; agent: prompt; s unwritten', async ({ asked, opened, written }) => {
    ;(await asked()).text('a helper').agent('s', 'the job')
    await asked('agent')
    await opened()
    await written.text('the job')
  }),
  moment('a call of a sub-agent runs while its answer streams', 'open s, call; agent: prompt; a unwritten', async (sight) => {
    ;(await delegated(sight)).text('its step').shell('a')
    await sight.began('a')
  }),
  moment('a call of a sub-agent runs', 'open s, call; agent: open a, call', async (sight) => {
    ;(await delegated(sight)).text('its step').shell('a').end()
    await sight.began('a')
    await sight.written.call('a')
  }),
  moment('a call of a sub-agent runs, and the answer that wants the sub-agent still streams', 'prompt; agent: open a, call; s unwritten', async ({ asked, began, written }) => {
    ;(await asked()).text('a helper').agent('s', 'the job')
    ;(await asked('agent')).text('its step').shell('a').end()
    await began('a')
    await written.call('a')
  }),
  moment('a sub-agent has its result and waits', 'open s, call; agent: result', async (sight) => {
    ;(await delegated(sight)).shell('a').end()
    await sight.began('a')
    sight.letGo('a')
    await sight.asked('agent')
    await sight.written.result('a')
  }),
  moment('the report of a sub-agent waits for the next answer', 'result; agent: text', async (sight) => {
    ;(await delegated(sight)).text('its report').end()
    await sight.asked()
    await sight.written.result('s')
    await sight.written.text('its report')
  }),
  moment('one of two sub-agents has reported', 'open s, result; agent: open b, call; agent: text', async (sight) => {
    ;(await sight.asked()).agent('s', 'the first job').agent('t', 'the second job').end()
    ;(await sight.asked('agent', 'the first job')).shell('b').end()
    ;(await sight.asked('agent', 'the second job')).text('its report').end()
    await sight.began('b')
    await sight.written.call('b')
    await sight.written.result('t')
  }),

  // More than one run.
  moment('a resumed session starts', 'text', lives(says('an earlier answer')), ({ registered }) => registered()),
  moment('killed twice, each time while a text streams', 'prompt',
    async ({ asked, opened, printed }) => {
      ;(await asked()).halfText('half a sentence')
      await printed('half a sentence')
      await opened()
    },
    killed(async ({ asked, printed }) => {
      ;(await asked()).halfText('once more')
      await printed('once more')
    }, 'again')),
  moment('killed twice, each time while a call runs', 'open b, call', running('a'), killed(running('b'), 'again')),
  moment('killed twice, the second time while a call runs and its answer streams', 'prompt; b unwritten', running('a'), killed(unwritten('b'), 'again')),
  moment('killed twice, the first time while a call ran and its answer streamed', 'open b, call; a unwritten', unwritten('a'), killed(running('b'), 'again')),
  moment('killed while a call ran and its answer streamed, repaired, resumed, killed', 'text; a unwritten',
    unwritten('a'), repaired, killed(async ({ asked, written }) => {
      ;(await asked()).text('an answer').end()
      await written.text('an answer')
    }, 'again')),
  moment('killed twice, the second time at the start', 'prompt', running('a'), killed(async ({ asked, opened }) => {
    await asked()
    await opened()
  }, 'again')),
  moment('killed, repaired, resumed and killed', 'open b, call', running('a'), repaired, killed(running('b'), 'again')),
  moment('killed among three, repaired, resumed and killed at a result', 'result',
    async (sight) => {
      await threeAtOnce(sight)
      sight.letGo('b')
      await sight.written.result('b')
    },
    repaired,
    killed(async (sight) => { await answered('d')(sight) }, 'again')),
  moment('a compaction is asked for', 'text', lives(says('an earlier answer')), killed(({ asked }) => asked(), '/compact')),
  moment('a compaction is written', 'prompt', lives(says('an earlier answer')), killed(async ({ asked, written }) => {
    ;(await asked()).text('<summary>what was said</summary>').end()
    await written.summary()
  }, '/compact')),
]
