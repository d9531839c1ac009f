"""One exchange of requests and answers with the API server: bounded in time and in size, with no secret told."""
