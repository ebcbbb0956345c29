//! What data do not tell, and what is doubtful.
