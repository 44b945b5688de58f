"""The living index: what a store should hold, and what brings it there.

A state says of every document which chunks a store has of it; a delta leads from one
state to the next. States advance when somebody acknowledges that the store has taken
a delta in, and never before.
"""
