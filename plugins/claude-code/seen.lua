-- What is remembered from one call to the next. Each adapter has its own Lua, so this is never somebody else's.
--
--   of the last screen   screen, changed_ms (when it was first seen), clock_ms, state, asks, for_reading,
--                        unsure (what is open may be something else), confirms (it takes Enter), inserts (a mode of vi),
--                        composer, composer_text, composer_rows, conversation
--   of dialogs           dialog (for the intents that answer it), answered (the one an intent answered, with its screen),
--                        trusted_ms (when that was the one of a folder), opening (the last intent was for one that came
--                        before the first composer)
--   of the last prompt   prompt (without blanks), before (the conversation it was sent into), submitted (the same, until
--                        the turn has begun), leaves (that conversation is not to be seen yet), of_its_own (a command of
--                        Claude Code's own), ended (the conversation in which its turn was over),
--                        asides (what was said into its turn, without blanks)
--   of the composer      attached (paths that wait there for the next prompt), coming (the last of them, until it is
--                        pasted), due (the same, until it is drawn), aside (text without blanks that goes into a turn
--                        that works), typed (by `key`), pasted (words that Enter is to follow, what stood there
--                        before, and as what they were drawn), entered (the same of the plan before, until its Enter
--                        was come to), since_ms (when it first took keys)

return { composer = "absent", composer_text = "", asides = {} }
